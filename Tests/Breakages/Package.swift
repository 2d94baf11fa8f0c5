// swift-tools-version: 6.2

import PackageDescription

/// As in the original package, except that warnings are not errors, because broken code may well cause some.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The log, the core, SQL and the server with their breakages, and the tests that must catch them. `tools/breakages` assembles it.
let package = Package(
    name: "Breakages",
    platforms: [.macOS(.v13)],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4"),
        .target(name: "CChecksum"),
        .target(name: "CAtomics"),
        .target(name: "CLibrary", swiftSettings: settings),
        .target(name: "SynclineGround", dependencies: ["CAtomics", "CLibrary"], swiftSettings: settings),
        .target(
            name: "SegmentLog",
            dependencies: [
                .target(name: "CLZ4", condition: .when(platforms: [.linux])), "CChecksum", "CLibrary",
                "SynclineGround",
            ],
            swiftSettings: settings),
        .target(
            name: "LogTesting", dependencies: ["CLibrary", "SegmentLog", "SynclineGround"], swiftSettings: settings),
        // Only what it re-exports.
        .target(name: "SynclineTesting", dependencies: ["LogTesting"], swiftSettings: settings),
        .target(
            name: "SynclineCore", dependencies: ["CAtomics", "CLibrary", "SynclineGround"], swiftSettings: settings),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
        .target(
            name: "SynclineWire",
            dependencies: [
                "CChecksum", "CLibrary", "SynclineCore", "SynclineGround",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        .target(
            name: "Syncline",
            dependencies: ["CLibrary", "SegmentLog", "SynclineCore", "SynclineGround", "SynclineWire"],
            exclude: ["Syncline.docc"], swiftSettings: settings),
        .target(
            name: "SynclineSQL",
            dependencies: [
                "CLibrary", "CSQLite", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineWire",
            ],
            swiftSettings: settings),
        .systemLibrary(name: "CMicroHTTPD", pkgConfig: "libmicrohttpd"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq"),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CMalloc"),
        .target(
            name: "SynclineReports", dependencies: ["CChecksum", "SynclineCore", "SynclineGround", "SynclineWire"],
            swiftSettings: settings),
        .target(
            name: "SynclineTables", dependencies: ["SynclineCore", "SynclineGround", "SynclineWire"],
            swiftSettings: settings),
        .target(
            name: "SynclineServer",
            dependencies: [
                "SynclineCore", "SynclineGround", "SynclineReports", "SynclineTables", "SynclineWire", "CLibrary",
                "CMicroHTTPD", "CZlib", "CSQLite", "CPostgres", "CCrypto", "CMalloc",
            ],
            swiftSettings: settings),
        .target(name: "CSpawn", path: "Tests/CSpawn"),
        .target(
            name: "ChildProcesses", dependencies: ["CSpawn"], path: "Tests/ChildProcesses", swiftSettings: settings),
        .testTarget(
            name: "BreakageTests", dependencies: ["LogTesting", "SegmentLog", "SynclineGround"],
            swiftSettings: settings),
        .testTarget(
            name: "ColumnBreakageTests", dependencies: ["LogTesting", "SynclineCore", "SynclineGround"],
            swiftSettings: settings),
        .testTarget(
            name: "LiveBreakageTests", dependencies: ["LogTesting", "SynclineCore", "SynclineGround"],
            swiftSettings: settings),
        .testTarget(
            name: "TypeBreakageTests",
            dependencies: ["SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "RightsBreakageTests",
            dependencies: [
                "ChildProcesses", "SynclineServer", "SynclineCore", "SynclineGround", "SynclineTables",
                "SynclineTesting", "SynclineWire",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "SQLBreakageTests",
            dependencies: [
                "CSQLite", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineSQL", "SynclineTesting",
            ],
            swiftSettings: settings),
    ]
)
