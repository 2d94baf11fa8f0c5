// The columns of a model are found from its key paths, whatever its coding keys are.

import Foundation
import SegmentLog
import Testing

@testable import Syncline

private enum Unlisted: String, Codable {
    case first, second
}

/// Custom keys, of which two are exchanged, and types that can be made up.
private struct Visit: SyncModel {
    struct Place: Codable, Equatable {
        var street: String
        var number: Int?
    }

    var id: UUID
    var title: String
    var text: String
    var start: Date
    var end: Date?
    var photo: Data?
    var link: URL
    var price: Decimal
    var size: UInt64
    var ratio: Float
    var tags: [String]
    var places: [Place]
    var place: Place?
    var isDone: Bool
    var isSent: Bool?
    var version: String?

    var isOpen: Bool { !isDone }
    var alias: String { text }
    var firstTag: String { tags[0] }

    enum CodingKeys: String, CodingKey {
        case id, start, end, photo, link, price, size, ratio, tags, places, place, version
        case title = "text"
        case text = "title"
        case isDone = "done"
        case isSent = "sent"
    }
}

private struct Report: SyncModel {
    var id: Int
    var state: Unlisted
    var text: String
    var other: String

    enum CodingKeys: String, CodingKey {
        case id, state, text
        case other = "more"
    }
}

/// Its decoder does not keep what the columns have.
private struct Sum: SyncModel {
    var id: String
    var label: String
    var total: Int
    var isLarge: Bool

    private enum CodingKeys: CodingKey {
        case id, label, first, second
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        label = try container.decode(String.self, forKey: .label)
        let first = try container.decode(Int.self, forKey: .first)
        total = try first + container.decode(Int.self, forKey: .second)
        isLarge = first > 0
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(label, forKey: .label)
        try container.encode(total, forKey: .first)
        try container.encode(0, forKey: .second)
    }
}

private final class Parcel: SyncModel {
    let id: String
    let weight: Int

    enum CodingKeys: String, CodingKey {
        case id
        case weight = "grams"
    }
}

@Suite struct ModelColumnsTests {
    private let columns = ModelColumns<Visit>()

    @Test func `a property belongs to the column of its coding key`() throws {
        #expect(try columns.name(of: \.title).get() == "text")
        #expect(try columns.name(of: \.text).get() == "title")
        #expect(try columns.name(of: \.isDone).get() == "done")
        #expect(try columns.name(of: \.isSent).get() == "sent")
        #expect(try columns.name(of: \.start).get() == "start")
        #expect(try columns.name(of: \.end).get() == "end")
        #expect(try columns.name(of: \.photo).get() == "photo")
        #expect(try columns.name(of: \.link).get() == "link")
        #expect(try columns.name(of: \.price).get() == "price")
        #expect(try columns.name(of: \.size).get() == "size")
        #expect(try columns.name(of: \.ratio).get() == "ratio")
        #expect(try columns.name(of: \.tags).get() == "tags")
        #expect(try columns.name(of: \.places).get() == "places")
        #expect(try columns.name(of: \.place).get() == "place")
        #expect(try columns.name(of: \.version).get() == "version")
        #expect(try columns.name(of: \.id).get() == "id")
    }

    @Test func `a computed property is not a column, and its code is not run on made-up values`() {
        let error = #expect(throws: SyncError.self) { try columns.name(of: \.isOpen).get() }
        #expect(error?.code == .unsupportedPredicate)
        #expect(error?.hint?.contains("$0.named") == true)
        #expect(throws: SyncError.self) { try columns.name(of: \.alias).get() }
        #expect(throws: SyncError.self) { try columns.name(of: \.firstTag).get() }
        #expect(throws: SyncError.self) { try columns.name(of: \.tags[3]).get() }
        #expect(throws: SyncError.self) { try columns.name(of: \.title.count).get() }
    }

    @Test func `a property that the decoder makes of two columns, or of part of one, is not a column`() throws {
        let columns = ModelColumns<Sum>()
        #expect(try columns.name(of: \.label).get() == "label")
        #expect(throws: SyncError.self) { try columns.name(of: \.total).get() }
        #expect(throws: SyncError.self) { try columns.name(of: \.isLarge).get() }
    }

    @Test func `the properties of a class are columns`() throws {
        let columns = ModelColumns<Parcel>()
        #expect(try columns.name(of: \.weight).get() == "grams")
        #expect(try columns.name(of: \.id).get() == "id")
    }

    @Test func `beside a type that can't be made up, a property's own name is used if the keys have it`() throws {
        let columns = ModelColumns<Report>()
        #expect(!columns.isWhole)
        #expect(try columns.name(of: \.state).get() == "state")
        #expect(try columns.name(of: \.text).get() == "text")
        let error = #expect(throws: SyncError.self) { try columns.name(of: \.other).get() }
        #expect(error?.hint?.contains("CaseIterable") == true)
    }

    @Test func `a named column that the model lacks is an error with a list of those it has`() {
        let error = #expect(throws: SyncError.self) { try columns.checked("plcae/street").get() }
        #expect(error?.message == "Visit has no column \"plcae\"")
        #expect(error?.hint?.contains("place, places") == true)
        #expect(throws: Never.self) { try columns.checked("place/street").get() }
        #expect(throws: Never.self) { try columns.checked("createdAt").get() }
    }
}
