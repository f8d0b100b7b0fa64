/** Where the documents of a network may be kept outside of its store, as the threads of the network know it. */
export type { ClusterOptions as RemotePlace } from '../cluster/connection/cluster.ts'
export type { ClusterHealth as RemoteHealth } from '../cluster/indices/health.ts'
export type { RemoteStore } from '../cluster/remote.ts'
export type { MovingReport, ShippingReport } from '../cluster/ship/context.ts'
export type { PatchLine } from '../cluster/ship/sending.ts'
