// The mounted file system that holds a directory, as the system reports it.

struct Mount: Sendable {
    /// As in `ext4`.
    var type: String
    /// The numbers of its device, as in `254:0`.
    var device: String

    /// The mount whose point is the longest beginning of an absolute path.
    init?(holding directory: String) {
        let path = directory.hasSuffix("/") ? directory : directory + "/"
        var longest = -1
        var found: Mount?
        for line in contents(of: "/proc/self/mountinfo")?.split(separator: "\n") ?? [] {
            let fields = line.split(separator: " ")
            guard fields.count > 5, let dash = fields.firstIndex(of: "-"), dash + 1 < fields.count else { continue }
            let point = fields[4] == "/" ? "/" : fields[4] + "/"
            if path.hasPrefix(point), point.count >= longest {
                longest = point.count
                found = Mount(type: String(fields[dash + 1]), device: String(fields[2]))
            }
        }
        guard let found else { return nil }
        self = found
    }

    private init(type: String, device: String) {
        self.type = type
        self.device = device
    }
}
