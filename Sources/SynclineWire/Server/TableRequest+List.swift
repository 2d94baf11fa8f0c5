// The parameters of a list, in either protocol's spelling.

import SynclineCore

extension TableRequest {
    func list(_ request: HTTPRequest, _ rules: RequestRules) throws(TableRequestError) -> ListRequest {
        var list = ListRequest(table: table)
        list.includesDeleted = includesDeleted
        list.counts = false
        for parameter in request.query {
            let isExact = serverProtocol == .zumo2 && rules.keepsQuirks
            switch isExact ? parameter.name : parameter.name.lowercased() {
            case "$filter": list.filter = try filter(parameter.value, rules)
            case "$orderby": list.order = try order(parameter.value)
            case "$top": list.top = try number(parameter)
            case "$skip": list.skip = try number(parameter)
            case "$after" where !rules.keepsQuirks: list.after = parameter.value
            case "$select": list.select = try columns(parameter.value, rules)
            case "$inlinecount" where serverProtocol == .zumo2:
                list.counts = try counts(parameter, yes: "allpages", no: "none", rules)
            case "$count" where serverProtocol == .datasync3:
                list.counts = try counts(parameter, yes: "true", no: "false", rules)
            // Servers ignore unknown parameters.
            default: break
            }
        }
        let limit = rules.maximalTop ?? maximalTop
        if let top = list.top, top > limit {
            throw TableRequestError(400, "You cannot request more than \(limit) records", code: "top-too-large")
        }
        return list
    }

    /// The maximum of the protocol's servers.
    private var maximalTop: Int {
        switch serverProtocol {
        case .zumo2: 1000
        case .datasync3: 128_000
        }
    }

    private func filter(_ text: String, _ rules: RequestRules) throws(TableRequestError) -> FilterExpression? {
        if text.trimmed.isEmpty { return nil }
        return try rules.filter(text, serverProtocol)
    }

    private func order(_ text: String) throws(TableRequestError) -> [RowQuery.Key] {
        if text.trimmed.isEmpty { return [] }
        do throws(FilterError) {
            return try RowQuery.Key.list(parsing: text)
        } catch {
            throw TableRequestError(400, "The order can't be read: \(error)", code: "invalid-order")
        }
    }

    private func number(_ parameter: HTTPHeader) throws(TableRequestError) -> Int {
        guard let number = Int(parameter.value), number >= 0 else {
            throw TableRequestError(400, "\(parameter.name) must be a number from 0", code: "invalid-number")
        }
        return number
    }

    private func counts(
        _ parameter: HTTPHeader, yes: String, no: String, _ rules: RequestRules
    ) throws(TableRequestError) -> Bool {
        if rules.keepsQuirks {
            return (serverProtocol == .zumo2 ? parameter.value : parameter.value.lowercased()) == yes
        }
        switch parameter.value.lowercased() {
        case yes: return true
        case no: return false
        default: throw TableRequestError(400, "\(parameter.name) must be \(yes) or \(no)", code: "invalid-count")
        }
    }

    private func columns(_ text: String, _ rules: RequestRules) throws(TableRequestError) -> [String]? {
        if text.trimmed.isEmpty { return nil }
        let columns = text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
        if columns == ["*"], !rules.keepsQuirks { return nil }
        let areNames = columns.allSatisfy { name in
            if rules.keepsQuirks { return !name.isEmpty && name != "*" }
            // A name that can be sorted by, without a direction.
            return (try? RowQuery.Key.list(parsing: name)) == [RowQuery.Key(name)]
        }
        guard areNames else {
            throw TableRequestError(400, "$select must be a list of columns", code: "invalid-select")
        }
        return columns
    }
}
