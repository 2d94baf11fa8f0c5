// swift-tools-version: 6.2

import PackageDescription

/// The same flags as the library's, for the same reasons.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A package of its own, so that users of the log need not have its peers installed.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    products: [
        // Loaded into programs of another package.
        .library(name: "CountedAllocations", type: .dynamic, targets: ["CountedAllocations"])
    ],
    dependencies: [
        .package(name: "Syncline", path: "..")
    ],
    targets: [
        .systemLibrary(name: "CBareSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CRocksDB", pkgConfig: "rocksdb", providers: [.apt(["librocksdb-dev"])]),
        .systemLibrary(name: "CLevelDB", providers: [.apt(["libleveldb-dev"])]),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(name: "CBareLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .target(name: "CBenchSupport"),
        .target(name: "CountedAllocations"),
        .executableTarget(
            name: "syncline-bench",
            dependencies: [
                .product(name: "SegmentLog", package: "Syncline"),
                .product(name: "Syncline", package: "Syncline"),
                .product(name: "SynclineSQL", package: "Syncline"),
                "CBareSQLite", "CRocksDB", "CLevelDB", "CLMDB", "CBareLZ4", "CBenchSupport",
            ],
            swiftSettings: settings
        ),
    ]
)
