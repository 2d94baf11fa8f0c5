// swift-tools-version: 6.2

import PackageDescription

/// The app's language mode: Swift 6, or the older one with the checks of concurrency if `tools/consumer` says so.
let language: [SwiftSetting] =
    Context.environment["SYNCLINE_CONSUMER_MODE"] == "5"
    ? [.swiftLanguageMode(.v5), .enableExperimentalFeature("StrictConcurrency")] : [.swiftLanguageMode(.v6)]

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
            swiftSettings: language + [
                .treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
        .executableTarget(
            name: "app", dependencies: [.product(name: "Syncline", package: "Syncline")],
            swiftSettings: language + [.treatAllWarnings(as: .error)]),
    ]
)
