// swift-tools-version: 6.2

import PackageDescription

/// The app's language mode: Swift 6, or the older one if `tools/consumer` says so.
let mode: SwiftLanguageMode = Context.environment["SYNCLINE_CONSUMER_MODE"] == "5" ? .v5 : .v6

/// An app that depends on Syncline as any other package would: only by its products.
let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    dependencies: [.package(name: "Syncline", path: "../..")],
    targets: [
        .executableTarget(
            name: "consumer",
            dependencies: [
                .product(name: "Syncline", package: "Syncline"),
                .product(name: "SegmentLog", package: "Syncline"),
                .product(name: "SynclineTesting", package: "Syncline"),
            ],
            swiftSettings: [
                .swiftLanguageMode(mode), .treatAllWarnings(as: .error),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
        .executableTarget(
            name: "app", dependencies: [.product(name: "Syncline", package: "Syncline")],
            swiftSettings: [.swiftLanguageMode(mode), .treatAllWarnings(as: .error)]),
    ]
)
