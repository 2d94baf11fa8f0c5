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

/// The log and the core with their breakages, and the tests that must catch them. `tools/breakages` assembles it.
let package = Package(
    name: "Breakages",
    platforms: [.macOS(.v13)],
    targets: [
        .systemLibrary(name: "CLZ4", pkgConfig: "liblz4"),
        .target(name: "CChecksum"),
        .target(name: "CAtomics"),
        .target(name: "SynclineGround", dependencies: ["CAtomics"], swiftSettings: settings),
        .target(
            name: "SegmentLog",
            dependencies: [
                .target(name: "CLZ4", condition: .when(platforms: [.linux])), "CChecksum", "SynclineGround",
            ],
            swiftSettings: settings),
        // Only the simulated disk.
        .target(name: "SynclineTesting", dependencies: ["SegmentLog", "SynclineGround"], swiftSettings: settings),
        .target(name: "SynclineCore", dependencies: ["CAtomics", "SynclineGround"], swiftSettings: settings),
        .testTarget(
            name: "BreakageTests", dependencies: ["SegmentLog", "SynclineGround", "SynclineTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "LiveBreakageTests", dependencies: ["SynclineCore", "SynclineGround", "SynclineTesting"],
            swiftSettings: settings),
    ]
)
