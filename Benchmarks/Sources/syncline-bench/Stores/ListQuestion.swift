// What the lists of an app ask of a store. Each store answers in its own way, with the same indexes.

/// A question of a list.
enum ListQuestion: String, CaseIterable, Codable, Sendable {
    /// The ten rows with the latest dates, without an index.
    case top
    /// The ten rows whose titles come first, without an index.
    case topText = "toptext"
    /// How many rows match a filter of three columns, without an index.
    case counted
    /// How many rows are done, without an index.
    case done
    /// The sum, the least and the greatest of a column of numbers.
    case sums
    /// The number of rows and the sum of a column of numbers for each of a few projects.
    case groups
    /// How many titles contain a word, without an index.
    case substring
    /// The fifty rows with the latest dates, by an index.
    case newest
    /// Fifty rows from anywhere in the order of the dates, by an index and a key.
    case page
    /// How many rows have a tag in a sixteenth of all tags, by an index.
    case count
    /// The rows with a tag in a 4096th of all tags, by an index.
    case range
    /// The same as a beginning of the tags.
    case prefix
    /// The rows with one tag, of which only the title is wanted, by an index that has it.
    case covered

    var isIndexed: Bool {
        switch self {
        case .top, .topText, .counted, .done, .sums, .groups, .substring: false
        case .newest, .page, .count, .range, .prefix, .covered: true
        }
    }

    /// What is asked, in a sentence.
    var title: String {
        switch self {
        case .top: "the 10 latest by date, no index"
        case .topText: "the first 10 by title, no index"
        case .counted: "the number of rows that match a filter of three columns, no index"
        case .done: "the number of rows that are done, no index"
        case .sums: "the sum, the least and the greatest number of a column"
        case .groups: "the number of rows and a sum for each project"
        case .substring: "the number of titles that contain a word, no index"
        case .newest: "the 50 latest by date, by an index"
        case .page: "50 rows after a key in the order of the dates, by an index"
        case .count: "the number of rows with a tag in a range of 1/16, by an index"
        case .range: "the rows with a tag in a range of 1/4096, by an index"
        case .prefix: "the rows whose tags begin with 3 digits, by an index"
        case .covered: "the titles of the rows with a tag, by an index that includes them"
        }
    }

    /// How often it is asked for a measurement.
    var times: Int {
        switch self {
        case .top, .topText, .counted, .done, .sums, .groups, .substring: 5
        case .count: 50
        case .covered: 200_000
        default: 2000
        }
    }

    /// How many times SQLite's speed it should reach.
    var target: Double {
        switch self {
        case .counted, .groups: 50
        case .top: 40
        case .done, .sums: 30
        case .topText: 8
        case .substring: 4
        case .covered: 1.5
        case .newest, .page, .count, .range, .prefix: 1
        }
    }
}

/// Where a question begins: the values of a row chosen at random.
struct ListPlace: Sendable {
    var due: String
    var id: String
    var key: (UInt64, UInt64)
    var tag: String

    /// The first digits of the tag, and what comes after all tags that begin with them.
    func tags(_ digits: Int) -> (from: String, to: String) {
        let from = String(tag.prefix(digits))
        return (from, from + "g")
    }
}
