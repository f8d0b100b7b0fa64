import type { Allowance } from '../limits/credits.ts'
import type { NetworkConfig } from './index.ts'

/** What each endpoint of a network may be asked for, in their order. What is set for one endpoint goes before what is set for all. */
export const allowancesOf = ({ rpc, rpcRate, rpcDaily, rpcMonth, rpcCosts }: NetworkConfig): Allowance[] =>
  rpc.map(url => ({ ...{ rate: rpcRate, daily: rpcDaily, month: rpcMonth, costs: rpcCosts }, ...url.allowance }))
