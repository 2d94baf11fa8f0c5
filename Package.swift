// swift-tools-version: 6.2

import PackageDescription

/// One array for every target; each flag with its reason.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),  // data races are compile errors
    .treatAllWarnings(as: .error),  // a warning nobody must fix is a warning nobody reads
    .enableUpcomingFeature("ExistentialAny"),  // the cost of `any` is visible where it is paid
    .enableUpcomingFeature("InternalImportsByDefault"),  // an import does not leak into the public API by accident
    .enableUpcomingFeature("MemberImportVisibility"),  // a member comes from a module the file names
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // async functions stay on their caller's executor
]

/// Deliberate breakages exist only in builds that ask for them, so that a test can show that the suite catches each.
let seededBugs: [SwiftSetting] =
    Context.environment["SYNCLINE_SEEDED_BUGS"] == nil ? [] : [.define("SEEDED_BUGS")]

let package = Package(
    name: "Syncline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "SegmentLog", targets: ["SegmentLog"]),
        .library(name: "SynclineTesting", targets: ["SynclineTesting"]),
    ],
    targets: [
        .systemLibrary(
            name: "CLZ4",
            pkgConfig: "liblz4",
            providers: [.apt(["liblz4-dev"]), .brew(["lz4"])]
        ),
        .target(name: "CChecksum"),
        .target(
            name: "SegmentLog",
            dependencies: [
                // Apple platforms bring the same block format in their Compression library.
                .target(name: "CLZ4", condition: .when(platforms: [.linux])),
                "CChecksum",
            ],
            swiftSettings: settings + seededBugs
        ),
        .target(name: "SynclineTesting", dependencies: ["SegmentLog"], swiftSettings: settings),
        .testTarget(
            name: "SegmentLogTests",
            dependencies: ["SegmentLog", "SynclineTesting"],
            swiftSettings: settings + seededBugs
        ),
    ]
)
