// The failures of PostgreSQL: the class of an error's code says which one it is.

import CPostgres
import SynclineCore
import SynclineGround
import SynclineTables

extension PostgresConnection {
    /// A field of an error, such as `c`, the column.
    fileprivate func field(_ result: OpaquePointer?, _ name: Character) -> String? {
        guard let result, let code = name.asciiValue, let text = PQresultErrorField(result, Int32(code)) else {
            return nil
        }
        return String(cString: text)
    }

    /// The message of an error and the names in it, without the details, which contain values.
    fileprivate func told(_ result: OpaquePointer?, _ code: String) -> String {
        let names = [("t", "table"), ("c", "column"), ("n", "constraint")].compactMap { key, word in
            field(result, Character(key)).map { "\(word) \($0)" }
        }
        let message = field(result, "M") ?? "no reason given"
        return "\(message) (\((["PostgreSQL code \(code)"] + names).joined(separator: ", ")))"
    }

    /// The column of a value that its type can't have. The database names the number of the value, but only if it can't
    /// read it: not for a string that is too long for its column.
    fileprivate func unfitColumn(_ result: OpaquePointer?) -> String? {
        guard let context = field(result, "W"), let sign = context.lastIndex(of: "$"),
            let number = Int(context[context.index(after: sign)...].prefix { $0.isASCII && $0.isNumber })
        else { return nil }
        let place = number - 1 - lastBound.values
        return lastBound.columns.indices.contains(place) ? lastBound.columns[place].name : nil
    }

    /// Maps the class of an error code to a failure.
    func failure(_ result: OpaquePointer?) -> StoreFailure {
        let code = field(result, "C") ?? "08000"
        let reason = FailureReason(
            FailureReason.Kind(sqlState: code),
            "\(PostgresConnection.line(PQerrorMessage(handle))) (PostgreSQL code \(code))")
        switch code {
        case "0A000", "42703", "42P01", "42804", "42883":
            // Prepared statements may refer to the previous tables.
            mustPrepareAgain = true
            return .changed(reason)
        case "54011": return .refused(ServedTable.tooManyColumns)
        // A trigger refuses, or only the database may set a column.
        case "P0001":
            return .refused(.trigger(FailureReason(.constraint, "a trigger refused a row (PostgreSQL code \(code))")))
        case "428C9":
            return .refused(.constraint(nil, FailureReason(.constraint, "only the database may set a column")))
        case "42501": return .refused(.rights(FailureReason(.permission, told(result, code))))
        default: break
        }
        switch code.prefix(2) {
        case "23":
            let name = field(result, "n") ?? field(result, "c")
            return .refused(.constraint(name, FailureReason(.constraint, told(result, code))))
        case "22":
            let named = unfitColumn(result).map { " \($0)" } ?? ""
            return .refused(Refusal(400, "invalid-value", "A value does not fit the database's column\(named)"))
        case "54": return .refused(.valueTooLarge)
        case "08", "40", "53", "55", "57", "25": return .busy(reason)
        default: return .broken(reason)
        }
    }

    static func line(_ message: UnsafeMutablePointer<CChar>?) -> String {
        guard let message else { return "no reason given" }
        return String(cString: message).split(separator: "\n").joined(separator: " ")
    }
}
