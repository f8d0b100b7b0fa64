import { CLUSTER_OPTIONS } from '../../config/cluster.ts'
import type { NETWORK_SETTINGS, SETTINGS, SettingName } from '../../config/settings.ts'

export const COMMON = ['data', 'config', 'json'] as const satisfies readonly (keyof typeof SETTINGS)[]

export const SERVER = [
  'host',
  'port',
  'logRequests',
  'metrics',
  'tlsCert',
  'tlsKey',
  'trustProxy',
  'proxyHeader',
  'corsOrigin',
  'noConsole',
  'queryDeadline',
  'readers',
  'limit',
  'allowTarget',
  'smtp',
  'mailFrom',
  'mailDigest',
  'deliveryTimeout',
  'deliveryRetries',
  'keepDeliveries',
] as const satisfies readonly (keyof typeof SETTINGS)[]

/** Settings of retention. */
export const KEPT = ['keepBlocks', 'keepFor', 'keepAlerts', 'keepAudit'] as const satisfies readonly SettingName[]

export const NODE = [
  'network',
  'chainId',
  'rpc',
  'ws',
  'from',
  'to',
  'order',
  'finality',
  'staleAfter',
  'pollInterval',
  'skipBloom',
  'verifyLogs',
  'traces',
  'requestTimeout',
  'rpcBatch',
  'rpcConcurrency',
  'rpcRate',
  'rpcDaily',
  'rpcMonth',
  'rpcCosts',
  'storeBatch',
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

/** Where documents of a network are searched. */
export const CLUSTER = ['store', ...CLUSTER_OPTIONS] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

/** What of a network is indexed where not all of it is. */
export const SCOPED = [
  'contract',
  'event',
  'transactions',
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]
