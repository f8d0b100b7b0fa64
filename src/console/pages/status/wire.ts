import type { Destinations } from '../../../http/shapes/rules.ts'
import type { NetworkStatus } from '../../../http/shapes/server.ts'

export type { RateSample, Rates, StorageAnswer } from '../../../http/shapes/management.ts'
export type { Attempt, Delivery } from '../../../http/shapes/rules.ts'
export type { NetworkStatus, Status } from '../../../http/shapes/server.ts'

export type ScopeCoverage = (NetworkStatus['coverage'] & {})[number]
export type ScopeFilling = NetworkStatus['filling'] & {}
/** Logs that are looked for; of many addresses and topics, the first ones. */
export type Filter = Omit<ScopeCoverage, 'ranges'>
export type Endpoint = NetworkStatus['endpoints'][number]
export type Budget = Endpoint['budget'] & {}
export type Period = Budget['day'] & {}
export type Destination = Destinations['destinations'][number]
