/** Types of a network's remote document store, as its threads use them. */
export type { ClusterOptions as RemotePlace } from '../cluster/connection/cluster.ts'
export type { ClusterHealth as RemoteHealth } from '../cluster/indices/cluster-health.ts'
export type { RemoteStore } from '../cluster/remote.ts'
export type { MovingReport, ShippingReport } from '../cluster/ship/context.ts'
export type { PatchLine } from '../cluster/ship/sending.ts'
