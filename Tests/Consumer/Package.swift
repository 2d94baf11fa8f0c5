// swift-tools-version: 6.2

import PackageDescription

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
            swiftSettings: [.treatAllWarnings(as: .error), .enableUpcomingFeature("MemberImportVisibility")]
        )
    ]
)
