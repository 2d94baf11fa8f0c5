// The parameters of a list, in either protocol's spelling.

import SynclineCore

extension TableRequest {
    func list(_ request: HTTPRequest) throws(TableRequestError) -> ListRequest {
        var list = ListRequest(table: table)
        list.includesDeleted = includesDeleted
        list.counts = false
        for parameter in request.query {
            let name = serverProtocol == .zumo2 ? parameter.name : parameter.name.lowercased()
            switch name {
            case "$filter": list.filter = try filter(parameter.value)
            case "$orderby": list.order = try order(parameter.value)
            case "$top": list.top = try number(parameter)
            case "$skip": list.skip = try number(parameter)
            case "$select": list.select = try columns(parameter.value)
            case "$inlinecount" where serverProtocol == .zumo2: list.counts = parameter.value == "allpages"
            case "$count" where serverProtocol == .datasync3: list.counts = parameter.value.lowercased() == "true"
            // Servers pass over what they do not know.
            default: break
            }
        }
        if let top = list.top, top > maximalTop {
            throw TableRequestError(400, "You cannot request more than \(maximalTop) records", serverProtocol)
        }
        return list
    }

    /// What the servers of the protocol allow.
    private var maximalTop: Int {
        switch serverProtocol {
        case .zumo2: 1000
        case .datasync3: 128_000
        }
    }

    private func filter(_ text: String) throws(TableRequestError) -> Expression? {
        if text.trimmed.isEmpty { return nil }
        do throws(FilterError) {
            return try Expression(parsing: text)
        } catch {
            throw TableRequestError(400, "The filter can't be read: \(error)", serverProtocol)
        }
    }

    private func order(_ text: String) throws(TableRequestError) -> [Query.Key] {
        if text.trimmed.isEmpty { return [] }
        do throws(FilterError) {
            return try Query.Key.list(parsing: text)
        } catch {
            throw TableRequestError(400, "The order can't be read: \(error)", serverProtocol)
        }
    }

    private func number(_ parameter: HTTPHeader) throws(TableRequestError) -> Int {
        guard let number = Int(parameter.value), number >= 0 else {
            throw TableRequestError(400, "\(parameter.name) must be a number from 0", serverProtocol)
        }
        return number
    }

    private func columns(_ text: String) throws(TableRequestError) -> [String]? {
        if text.trimmed.isEmpty { return nil }
        let columns = text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
        guard columns.allSatisfy({ !$0.isEmpty && $0 != "*" }) else {
            throw TableRequestError(400, "$select must be a list of columns", serverProtocol)
        }
        return columns
    }
}
