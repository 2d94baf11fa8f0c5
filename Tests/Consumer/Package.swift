// swift-tools-version: 6.2

import PackageDescription

/// An app that depends on Syncline as any other package would: only by its products.
let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
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
