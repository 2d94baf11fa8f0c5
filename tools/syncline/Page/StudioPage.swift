// The files of the page of `syncline studio`. They are part of the executable, so that it works wherever it is copied.

package enum StudioPage {
    package struct File: Sendable {
        package var type: String
        package var bytes: [UInt8]

        fileprivate static func script(_ bytes: [UInt8]) -> File {
            File(type: "text/javascript; charset=utf-8", bytes: bytes)
        }
    }

    /// The files by the path of their URL.
    package static let files: [String: File] = [
        "/": File(type: "text/html; charset=utf-8", bytes: PackageResources.page_html),
        "/style.css": File(type: "text/css; charset=utf-8", bytes: PackageResources.style_css),
        "/app.js": .script(PackageResources.app_js),
        "/beside.js": .script(PackageResources.beside_js),
        "/charts.js": .script(PackageResources.charts_js),
        "/debugger.js": .script(PackageResources.debugger_js),
        "/dom.js": .script(PackageResources.dom_js),
        "/drop.js": .script(PackageResources.drop_js),
        "/fields.js": .script(PackageResources.fields_js),
        "/list.js": .script(PackageResources.list_js),
        "/log.js": .script(PackageResources.log_js),
        "/marks.js": .script(PackageResources.marks_js),
        "/rows.js": .script(PackageResources.rows_js),
        "/share.js": .script(PackageResources.share_js),
        "/sql.js": .script(PackageResources.sql_js),
        "/status.js": .script(PackageResources.status_js),
        "/store.js": .script(PackageResources.store_js),
        "/tables.js": .script(PackageResources.tables_js),
        "/timeline.js": .script(PackageResources.timeline_js),
        "/times.js": .script(PackageResources.times_js),
        "/trail.js": .script(PackageResources.trail_js),
        "/views.js": .script(PackageResources.views_js),
    ]
}
