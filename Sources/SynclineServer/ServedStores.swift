// The stores of a server: one, or one for each tenant.

import Dispatch
import SynclineGround
import SynclineTables
import SynclineWire

/// What a server does with all its stores.
protocol ServedStores: StoreFronts {
    var stores: [ServedStore] { get }
    /// Interrupts waits for the databases.
    func interrupt()
    /// Answers whether the server is well.
    var health: any RequestAnswering { get }
    func close()
    /// Throws if a known tenant would change.
    func check(_ configuration: ServerConfiguration) throws(StartFailure)
    /// Learns of new tenants.
    func add(_ configuration: ServerConfiguration)
}

extension ServedStores {
    func endSweeps() { for store in stores { store.endSweeps() } }
}

/// A store for all requests.
struct OnlyStore: ServedStores {
    let store: ServedStore
    private let only: OnlyFront

    init(
        _ configuration: ServerConfiguration, _ environment: any ServerEnvironment, _ gate: TokenGate
    ) throws(StartFailure) {
        do throws(StoreFailure) {
            store = try ServedStore(configuration, environment, gate)
        } catch {
            throw StartFailure(error)
        }
        only = OnlyFront(configuration, store.answers)
    }

    var stores: [ServedStore] { [store] }
    var health: any RequestAnswering { store.answers }
    var all: [StoreFront] { only.all }
    var measures: [Measure] { only.measures }

    func choose(for request: inout HTTPRequest, _ context: inout RequestContext) -> FrontChoice {
        only.choose(for: &request, &context)
    }

    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse { only.marked(response, headers) }
    func endWork() { only.endWork() }
    func interrupt() { store.store.interrupt() }
    func close() { store.store.close() }
    func check(_ configuration: ServerConfiguration) {}
    func add(_ configuration: ServerConfiguration) {}
}

final class Tenants: ServedStores {
    struct Known: Sendable {
        var plan: TenantPlan
        var tenants: [String: Tenant]
    }

    let known: SharedReading<Known>
    private let gate: TokenGate
    private let environment: any ServerEnvironment
    private let limiter: RateLimiter?
    private let cors: CrossOrigin?
    private let note: @Sendable (String) -> Void

    init(
        _ configuration: ServerConfiguration, _ plan: TenantPlan, _ environment: any ServerEnvironment,
        _ gate: TokenGate, note: @escaping @Sendable (String) -> Void
    ) {
        (self.environment, self.gate, self.note) = (environment, gate, note)
        limiter = plan.requestsPerSecond.map { RateLimiter(perSecond: $0) }
        cors = configuration.cors
        known = SharedReading(Known(plan: plan, tenants: [:]))
        add(configuration)
    }

    func check(_ configuration: ServerConfiguration) throws(StartFailure) {
        for (name, store) in known.value.plan.stores where configuration.tenants?.stores[name] != store {
            throw StartFailure("the store of tenant \(name) can't change while the server runs")
        }
    }

    func add(_ configuration: ServerConfiguration) {
        guard let plan = configuration.tenants else { return }
        known.change { known in
            known.plan = plan
            for name in plan.names where known.tenants[name] == nil {
                known.tenants[name] = tenant(name, configuration)
            }
        }
    }

    private func tenant(_ name: String, _ configuration: ServerConfiguration) -> Tenant {
        Tenant(name, note: note) { [environment, gate] () throws(StoreFailure) in
            guard let own = configuration.settings(ofTenant: name) else { throw .broken("there is no tenant \(name)") }
            let store = try ServedStore(own, environment, gate)
            return (store, StoreFront(own, store.answers))
        }
    }

    /// Opens the store of a tenant before the first request.
    func open(_ name: String) throws(StartFailure) {
        do throws(StoreFailure) {
            try known.value.tenants[name]?.open()
        } catch {
            throw StartFailure(error)
        }
    }

    private var tenants: [Tenant] { Array(known.value.tenants.values) }
    var stores: [ServedStore] { tenants.compactMap(\.store) }
    var all: [StoreFront] { tenants.compactMap(\.front) }
    var health: any RequestAnswering { ServerHealth() }

    func choose(for request: inout HTTPRequest, _ context: inout RequestContext) -> FrontChoice {
        let known = known.value
        let headers = request.headers
        switch known.plan.choice(for: &request, { gate.tenants(headers, now: environment.now()) }) {
        case .server:
            var response = health.answer(request, &context)
            if request.method == "OPTIONS" {
                response.headers += (cors ?? CrossOrigin(origins: [])).preflight(request.headers)
            }
            return .answer(response)
        case .refused(let refusal): return .answer(Tenants.response(refusal))
        case .tenant(let name):
            guard let tenant = known.tenants[name] else { return .answer(StoreFront.busy()) }
            context.tenant = name
            if let limiter, !context.hasWaited {
                guard let wait = limiter.wait(name, atMost: .seconds(1)) else {
                    return .answer(Tenants.response(.tooManyRequests))
                }
                if wait > .zero { return .later(.again(after: wait)) }
            }
            return tenant.choice(&context.notes)
        }
    }

    private static func response(_ refusal: Refusal) -> HTTPResponse {
        if refusal.status != 401 { return refusal.response(retryAfter: refusal == .tooManyRequests ? 1 : 30) }
        var response = refusal.response
        response.headers.append(HTTPHeader("WWW-Authenticate", "Bearer"))
        return response
    }

    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse {
        TableAnswers.marked(response, headers, cors)
    }

    /// The measures of all stores, each with the tenant's name.
    var measures: [Measure] {
        let tenants = tenants.sorted { $0.name < $1.name }
        var merged: [Measure] = [
            Measure(
                "tenant_open", .gauge, "Whether the store of a tenant is open.", by: "tenant",
                tenants.map { ($0.name, $0.store == nil ? 0 : 1) })
        ]
        for tenant in tenants {
            for measure in tenant.store?.answers.measures() ?? [] {
                let named = measure.labelled("tenant", tenant.name)
                if let place = merged.firstIndex(where: { $0.name == named.name }) {
                    merged[place].samples += named.samples
                } else {
                    merged.append(named)
                }
            }
        }
        return merged
    }

    func interrupt() { for tenant in tenants { tenant.interrupt() } }
    func endWork() { for tenant in tenants { tenant.endWork() } }
    func close() { for tenant in tenants { tenant.close() } }
}

/// The health of a server with tenants: it runs. One that can't reach a tenant's store is of use to the others.
private struct ServerHealth: RequestAnswering {
    func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
        switch request.method {
        case "OPTIONS": return HTTPResponse(status: 204)
        case "GET", "HEAD": return TableAnswer.json(200, Array(#"{"status":"ok"}"#.utf8))
        default:
            return Refusal(405, "method-not-allowed", "Method \(request.method.prefix(20)) is not allowed here")
                .response
        }
    }
}

extension Waiting {
    static func again(after time: Duration) -> Waiting {
        .again { resume in
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(time / .nanoseconds(1)))) { resume() }
        }
    }
}
