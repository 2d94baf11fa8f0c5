// An error as a person reads it.

extension ToolError {
    /// The lines of the message for people.
    func lines(_ style: TextStyle) -> [String] {
        var lines = [style.paint("syncline: ", .dim) + style.paint("error: ", .bad) + escaped(message)]
        let place = [address.map { "at \($0)" }, file.map { "in \($0)" }, records.map { "records \($0)" }].compactMap {
            $0
        }
        if !place.isEmpty { lines.append("  " + escaped(place.joined(separator: ", "))) }
        if let hint { lines.append("  " + style.paint("hint: ", .heading) + escaped(hint)) }
        return lines
    }
}
