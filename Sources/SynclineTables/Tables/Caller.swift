// The caller of a request, as its token names it.

package struct Caller: Hashable, Sendable {
    package var subject: String
    package var roles: Set<String> = []

    package init(subject: String, roles: Set<String> = []) { (self.subject, self.roles) = (subject, roles) }
}
