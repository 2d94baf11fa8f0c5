// Runs the workloads against a server for each store, first those that write, then those that read what was written.

import Foundation
import Syncline

struct ServerRunner {
    let options: ServerOptions
    let runner: Runner

    private struct Place {
        var name: String
        var url: String
    }

    private var places: [Place] {
        [Place(name: "sqlite", url: "sqlite:\(runner.directory)/server.db")]
            + (options.postgres.map { [Place(name: "postgresql", url: $0)] } ?? [])
    }

    private static let batchSize = 1000
    private static let batchClients = 8

    func run(_ show: (String, [ServerMeasurement]) -> Void) async throws {
        let clients = min(ServerRunner.batchClients, options.connections)
        let batches = "\(formatted(options.rows)) rows, \(ServerRunner.batchSize) a batch, \(clients) clients, durable"
        var tables: [ServerWorkload: ServerTable] = [
            .insert: ServerTable(.insert, "one row a request, durable", "rows/s"),
            .batch: ServerTable(.batch, "\(batches), ids random", "rows/s", asked: 50_000),
            .ordered: ServerTable(.ordered, "\(batches), ids in order", "rows/s", asked: 50_000),
            .get: ServerTable(.get, "whole rows by random ids", "requests/s", asked: 20_000),
            .page: ServerTable(.page, "one client reads all by following links, 1000 rows a page", "rows/s"),
            .changes: ServerTable(.changes, "one client reads all changes, 1000 a page", "rows/s"),
            .sync: ServerTable(.sync, "a new store of Syncline pulls all", "rows/s"),
        ]
        var idle: [String] = []
        for place in places {
            let server = try ServerProcess(options.program, store: place.url)
            defer { server.stop() }
            for workload in ServerWorkload.allCases where options.workloads.contains(workload) {
                let repeats = [.batch, .ordered, .idle].contains(workload) ? 1 : options.rounds
                for round in 1...repeats {
                    runner.progress("\(workload.rawValue), \(place.name), round \(round)")
                    let before = server.processorSeconds
                    if workload == .idle {
                        idle.append("\(place.name): \(try memory(server))")
                        continue
                    }
                    let (result, units) = try await measure(workload, server, round)
                    var measurement = ServerMeasurement(
                        workload: workload.rawValue, store: place.name, round: round,
                        rate: Double(units) / result.seconds, seconds: result.seconds)
                    if result.requests > 3 {
                        measurement.microseconds50 = result.latency.microseconds(atQuantile: 0.5)
                        measurement.microseconds99 = result.latency.microseconds(atQuantile: 0.99)
                    }
                    measurement.processorMicroseconds = (server.processorSeconds - before) * 1e6 / Double(units)
                    tables[workload]?.add(measurement)
                }
                if place.name == "sqlite", let bare = try bare(workload) { tables[workload]?.add(bare) }
            }
        }
        for workload in ServerWorkload.allCases where options.workloads.contains(workload) {
            if let table = tables[workload] { show(table.text, table.measurements) }
        }
        if !idle.isEmpty { show((["idle: memory with 1,000 connections"] + idle).joined(separator: "\n"), []) }
    }

    /// What was done, and how many rows or requests that were.
    private func measure(
        _ workload: ServerWorkload, _ server: ServerProcess, _ round: Int
    ) async throws -> (LoadResult, Int) {
        let rows = TodoRows(count: 0, isOrdered: false)
        switch workload {
        case .insert:
            let first = options.rows + round * 10_000_000
            let result = try ServerLoad.run(
                port: server.port, clients: options.connections, seconds: options.seconds, expecting: 201
            ) { number in
                LoadConnection.request("POST", "/tables/todos", body: ServerRunner.item(rows, first + number))
            }
            return (result, result.requests)
        case .batch: return try insert(rows, into: "todos", server)
        case .ordered: return try insert(TodoRows(count: 0, isOrdered: true), into: "ordered", server)
        case .get:
            let count = UInt64(options.rows)
            let result = try ServerLoad.run(
                port: server.port, clients: options.connections, seconds: options.seconds, expecting: 200
            ) { number in
                var random = SplitMix64(seed: UInt64(number))
                return LoadConnection.request("GET", "/tables/todos/\(rows.id(Int(random.below(count))))")
            }
            return (result, result.requests)
        case .page:
            return try walk(server, "/tables/todos?$orderby=id") { answer in
                answer["nextLink"].map { "/tables/todos?\($0)" }
            }
        case .changes:
            return try walk(server, "/tables/todos/changes?since=&$top=1000") { answer in
                guard answer["hasMore"] == "true", let cursor = answer["cursor"] else { return nil }
                return "/tables/todos/changes?since=\(cursor)&$top=1000"
            }
        case .sync: return try await pull(server)
        case .idle: throw BenchError("no rate")
        }
    }

    /// What SQLite does by itself with the rows of a workload.
    private func bare(_ workload: ServerWorkload) throws -> ServerMeasurement? {
        guard workload == .batch || workload == .ordered else { return nil }
        let isOrdered = workload == .ordered
        runner.progress("\(workload.rawValue), bare SQLite")
        let rows = TodoRows(count: 0, isOrdered: isOrdered)
        let seconds = try BareTable.insert(
            rows, count: options.rows, batch: ServerRunner.batchSize, into: isOrdered ? "ordered" : "todos",
            of: "\(runner.directory)/server.db", at: "\(runner.directory)/bare.db")
        return ServerMeasurement(
            workload: workload.rawValue, store: "bare SQLite", round: 1, rate: Double(options.rows) / seconds,
            seconds: seconds)
    }

    /// Inserts rows in batches.
    private func insert(_ rows: TodoRows, into table: String, _ server: ServerProcess) throws -> (LoadResult, Int) {
        let size = ServerRunner.batchSize
        let result = try ServerLoad.run(
            port: server.port, clients: min(ServerRunner.batchClients, options.connections), seconds: 3600,
            count: max(1, options.rows / size), expecting: 200
        ) { number in
            var body = Array(#"{"rows":false,"operations":["#.utf8)
            for index in number * size..<(number + 1) * size {
                if index > number * size { body.append(0x2c) }
                body += Array(#"{"operation":"insert","table":"\#(table)","item":"#.utf8)
                body += ServerRunner.item(rows, index)
                body.append(0x7d)
            }
            return LoadConnection.request("POST", "/tables/$batch", body: body + Array("]}".utf8))
        }
        return (result, result.requests * size)
    }

    private static func item(_ rows: TodoRows, _ index: Int) -> [UInt8] {
        Array("{\"id\":\"\(rows.id(index))\",".utf8) + rows[index].json.dropFirst()
    }

    /// Reads page after page; `next` finds the next one's address among the answer's own members.
    private func walk(
        _ server: ServerProcess, _ start: String, _ next: ([String: String]) -> String?
    ) throws -> (LoadResult, Int) {
        let connection = try LoadConnection(port: server.port)
        var result = LoadResult()
        var rows = 0
        var address: String? = start
        while let target = address {
            let request = LoadConnection.request("GET", target)
            let before = monotonicNanoseconds()
            let answer = try connection.exchange(request)
            let time = monotonicNanoseconds() - before
            guard answer.status == 200 else { throw BenchError("Status \(answer.status) for \(target)") }
            result.latency.add(time)
            result.seconds += Double(time) / 1e9
            result.requests += 1
            // Each row has one version.
            let body = connection.buffer[answer.body]
            rows += ServerRunner.count(Array(#""version":"#.utf8), in: body)
            address = next(ServerRunner.members(afterItems: body))
        }
        guard rows >= options.rows else { throw BenchError("Only \(rows) rows of \(options.rows)") }
        return (result, rows)
    }

    private static func count(_ text: [UInt8], in body: ArraySlice<UInt8>) -> Int {
        var count = 0
        body.withUnsafeBytes { body in
            guard let start = body.baseAddress else { return }
            for place in 0...max(0, body.count - text.count) where body[place] == text[0] {
                if memcmp(start + place, text, text.count) == 0 { count += 1 }
            }
        }
        return count
    }

    /// The members of an answer after its items, strings without their quotes.
    private static func members(afterItems body: ArraySlice<UInt8>) -> [String: String] {
        guard let end = body.lastIndex(of: UInt8(ascii: "]")) else { return [:] }
        let text = "{" + String(decoding: body[(end + 1)...].drop { $0 == 0x2c }, as: UTF8.self)
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else {
            return [:]
        }
        return object.filter { !($0.value is NSNull) }.mapValues { value in
            (value as? Bool).map { "\($0)" } ?? "\(value)"
        }
    }

    private func pull(_ server: ServerProcess) async throws -> (LoadResult, Int) {
        let directory = runner.directory + "/client"
        removeTree(directory)
        try makeDirectories(directory)
        defer { removeTree(directory) }
        var configuration = SyncConfiguration()
        configuration.backend = "http://127.0.0.1:\(server.port)"
        let database = try await SyncDatabase.open(at: directory, configuration)
        let start = monotonicNanoseconds()
        _ = try await database.pull("todos")
        var result = LoadResult()
        result.seconds = Double(monotonicNanoseconds() - start) / 1e9
        let rows = try await database.rows(of: "todos").count()
        guard rows >= options.rows else { throw BenchError("Only \(rows) rows of \(options.rows) were pulled") }
        try await database.close()
        return (result, rows)
    }

    private func memory(_ server: ServerProcess) throws -> String {
        let before = server.memory
        let connections = try (0..<1000).map { _ in try LoadConnection(port: server.port) }
        let hello = LoadConnection.request("GET", "/healthz")
        for connection in connections where try connection.exchange(hello).status != 200 {
            throw BenchError("A connection is refused")
        }
        let after = server.memory
        return
            "\(formatted(Double(after) / Double(1 << 20))) MiB, \(formatted(Double(before) / Double(1 << 20))) before"
    }
}
