// swift-tools-version: 6.2

import PackageDescription

/// The lock and the atomic values of Apple platforms on Linux as well: to test them there, and for the thread sanitizer,
/// which does not see the standard library's lock.
let ownLocks: [SwiftSetting] =
    ["SYNCLINE_OWN_LOCKS", "SYNCLINE_THREAD_SANITIZER"].contains { Context.environment[$0] != nil }
    ? [.define("OWN_LOCKS")] : []

/// One array for every target; each flag with its reason.
let settings: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),  // data races are compile errors
        .treatAllWarnings(as: .error),  // unfixed warnings get ignored
        .enableUpcomingFeature("ExistentialAny"),  // the cost of `any` is visible where it is paid
        .enableUpcomingFeature("InternalImportsByDefault"),  // an import does not leak into the public API by accident
        .enableUpcomingFeature("MemberImportVisibility"),  // a member comes from a module the file names
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // async functions stay on their caller's executor
    ] + ownLocks

/// The transport of Apple platforms on Linux as well, to be tested and measured there.
let urlSession: [SwiftSetting] =
    Context.environment["SYNCLINE_URLSESSION"] == nil ? [] : [.define("SYNCLINE_URLSESSION")]

/// An app for an Apple platform ships the log's privacy manifest in a bundle; other systems have no use for one.
#if os(Linux)
    let (privacy, unused): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#else
    let (privacy, unused): ([Resource], [String]) = ([.process("PrivacyInfo.xcprivacy")], [])
#endif

let package = Package(
    name: "Syncline",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Syncline", targets: ["Syncline"]),
        .library(name: "SynclineSQL", targets: ["SynclineSQL"]),
        .library(name: "SegmentLog", targets: ["SegmentLog"]),
        .library(name: "SynclineTesting", targets: ["SynclineTesting"]),
        .executable(name: "syncline", targets: ["syncline"]),
        .executable(name: "syncline-server", targets: ["syncline-server"]),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4",
            pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]
        ),
        .target(name: "CChecksum"),
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .systemLibrary(
            name: "CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev", "libgnutls28-dev"]), .brew(["libmicrohttpd", "gnutls"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .systemLibrary(
            name: "CSQLite",
            pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]
        ),
        .systemLibrary(
            name: "CPostgres",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .systemLibrary(
            name: "CCrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(name: "CMalloc"),
        .target(name: "CAtomics"),
        .target(name: "CLibrary", swiftSettings: settings),
        .target(name: "SynclineGround", dependencies: ["CAtomics", "CLibrary"], swiftSettings: settings),
        .target(
            name: "SegmentLog",
            dependencies: [
                "CLibrary", "SynclineGround",
                // Apple platforms bring the same block format in their Compression library.
                .target(name: "CLZ4", condition: .when(platforms: [.linux])),
                "CChecksum",
            ],
            exclude: unused,
            resources: privacy,
            swiftSettings: settings
        ),
        .target(
            name: "SynclineCore", dependencies: ["CAtomics", "CLibrary", "SynclineGround"], swiftSettings: settings),
        .target(
            name: "SynclineWire",
            dependencies: [
                "CChecksum", "CLibrary", "SynclineCore", "SynclineGround",
                // Apple platforms bring URLSession.
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings + urlSession
        ),
        .target(
            name: "Syncline",
            dependencies: ["CLibrary", "SegmentLog", "SynclineCore", "SynclineGround", "SynclineWire"],
            swiftSettings: settings
        ),
        .target(
            name: "SynclineSQL",
            dependencies: [
                "CLibrary", "CSQLite", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineWire",
            ],
            swiftSettings: settings
        ),
        // Faults, crashes and random numbers for tests of the log and the core, without sync.
        .target(
            name: "LogTesting", dependencies: ["CLibrary", "SegmentLog", "SynclineGround"], swiftSettings: settings),
        .target(
            name: "SynclineTesting",
            dependencies: [
                "LogTesting", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineTables",
                "SynclineWire",
            ],
            swiftSettings: settings
        ),
        // Reports of a store or a server, which no app links.
        .target(
            name: "SynclineReports", dependencies: ["CChecksum", "SynclineCore", "SynclineGround", "SynclineWire"],
            swiftSettings: settings),
        // The tables that a server serves, wherever their rows are: without sockets, databases and C libraries.
        .target(
            name: "SynclineTables", dependencies: ["SynclineCore", "SynclineGround", "SynclineWire"],
            swiftSettings: settings),
        .target(
            name: "SynclineServer",
            dependencies: [
                "SynclineCore", "SynclineGround", "SynclineReports", "SynclineTables", "SynclineWire", "CLibrary",
                "CMicroHTTPD", "CZlib", "CSQLite", "CPostgres", "CCrypto", "CMalloc",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "syncline-server",
            dependencies: ["CLibrary", "SynclineServer"],
            path: "tools/syncline-server",
            swiftSettings: settings
        ),
        // The files of the studio's page, inside the executable. A module of their own, because they compile slowly.
        .target(
            name: "StudioPage",
            path: "tools/syncline/Page",
            resources: [
                "page.html", "style.css", "app.js", "beside.js", "charts.js", "debugger.js", "dom.js", "drop.js",
                "fields.js", "list.js", "log.js", "marks.js", "rows.js", "share.js", "sql.js", "status.js", "store.js",
                "tables.js", "timeline.js", "times.js", "trail.js", "views.js",
            ].map { .embedInCode($0) },
            swiftSettings: settings
        ),
        // The tool without its main.swift, so that tests can import it.
        .target(
            name: "SynclineTool",
            dependencies: [
                "CLibrary", "SegmentLog", "StudioPage", "Syncline", "SynclineCore", "SynclineGround",
                "SynclineReports", "SynclineSQL", "SynclineServer", "SynclineTesting", "SynclineWire",
            ],
            path: "tools/syncline/Tool",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "syncline",
            dependencies: ["CLibrary", "SynclineTool"],
            path: "tools/syncline",
            exclude: ["Page", "Tool"],
            swiftSettings: settings
        ),
        // The sample app: code to copy, which no product contains.
        .executableTarget(
            name: "todo", dependencies: ["Syncline"], path: "tools/todo", swiftSettings: settings),
        // The app of the tutorial.
        .target(name: "FieldApp", dependencies: ["Syncline"], path: "tools/field", swiftSettings: settings),
        .testTarget(
            name: "FieldAppTests", dependencies: ["FieldApp", "Syncline", "SynclineTesting"], swiftSettings: settings),
        // The data layer of an app with money, dates and UUIDs.
        .target(
            name: "LedgerApp", dependencies: ["Syncline"], path: "tools/ledger", exclude: ["server.json"],
            swiftSettings: settings),
        .testTarget(
            name: "LedgerAppTests",
            dependencies: [
                "LedgerApp", "Syncline", "SynclineCore", "SynclineGround", "SynclineServer", "SynclineTesting",
                "SynclineWire",
            ],
            swiftSettings: settings),
        // Programs that tests start and kill.
        .target(name: "CSpawn", path: "Tests/CSpawn"),
        .target(
            name: "ChildProcesses", dependencies: ["CSpawn"], path: "Tests/ChildProcesses", swiftSettings: settings),
        .testTarget(
            name: "SynclineCoreTests",
            dependencies: ["LogTesting", "SynclineCore", "SynclineGround", "SynclineReports"],
            swiftSettings: settings
        ),
        .testTarget(name: "SynclineGroundTests", dependencies: ["SynclineGround"], swiftSettings: settings),
        .testTarget(
            name: "SynclineTests",
            dependencies: [
                "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineTesting", "SynclineWire",
            ],
            exclude: ["Conformance"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SynclineSQLTests",
            // The executable is started and killed by the tests.
            dependencies: [
                "ChildProcesses", "CSQLite", "SegmentLog", "Syncline", "SynclineCore", "SynclineGround", "SynclineSQL",
                "SynclineTesting", "SynclineWire", "follow-process",
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "follow-process", dependencies: ["SegmentLog", "Syncline", "SynclineCore", "SynclineSQL"],
            path: "Tests/FollowProcess", swiftSettings: settings),
        .testTarget(
            name: "SynclineWireTests",
            dependencies: [
                "SynclineCore", "SynclineGround", "SynclineTesting", "SynclineWire",
                .target(name: "CCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings + urlSession
        ),
        .testTarget(
            name: "SynclineServerTests",
            // The executable is started, stopped and killed by the tests.
            dependencies: [
                "ChildProcesses", "SynclineServer", "Syncline", "SynclineCore", "SynclineGround", "SynclineReports",
                "SynclineTables", "SynclineTesting", "SynclineWire", "syncline-server",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SegmentLogTests",
            // The executable is started, stopped and killed by the tests.
            dependencies: [
                "CChecksum", "ChildProcesses", "LogTesting", "SegmentLog", "SynclineGround", "log-process",
            ],
            exclude: ["Golden"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "log-process", dependencies: ["SegmentLog"], path: "Tests/LogProcess", swiftSettings: settings),
        .executableTarget(
            name: "store-process", dependencies: ["Syncline"], path: "Tests/StoreProcess", swiftSettings: settings),
        // Every Swift block of the documents, compiled; those that need nothing but a directory are run.
        .executableTarget(
            name: "snippets",
            dependencies: ["SegmentLog", "Syncline", "SynclineSQL", "SynclineTesting"],
            path: "Tests/Snippets",
            swiftSettings: settings
        ),
        // The documents are held to what the code does. The executables are run as children.
        .testTarget(
            name: "DocumentTests",
            dependencies: ["ChildProcesses", "Syncline", "snippets", "syncline", "syncline-server", "todo"],
            swiftSettings: settings
        ),
        // Reads the tree itself.
        .testTarget(name: "TidyTests", swiftSettings: settings),
        .testTarget(
            name: "ToolTests",
            // The executable is run as a child, so it must be built with the tests.
            dependencies: [
                "ChildProcesses", "CSQLite", "SegmentLog", "StudioPage", "Syncline", "SynclineCore", "SynclineGround",
                "SynclineReports", "SynclineServer", "SynclineSQL", "SynclineTesting", "SynclineTool", "SynclineWire",
                "syncline",
            ],
            exclude: ["Golden", "GoldenStores"],
            swiftSettings: settings
        ),
    ]
)
