// Paths of files for libraries that give some names another meaning.

extension String {
    /// The path of the same file, which begins with a folder. SQLite takes a name such as `:memory:` or `file:x` for something
    /// else than the file of that name.
    package var plainPath: String { utf8.first == UInt8(ascii: "/") ? self : "./" + self }
}
