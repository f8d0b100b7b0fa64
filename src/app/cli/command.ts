import type { Readable, Writable } from 'node:stream'
import { CLUSTER_OPTIONS } from '../../config/cluster.ts'
import type { Config, Flags, NetworkConfig } from '../../config/index.ts'
import type { NETWORK_SETTINGS, SETTINGS, SettingName, SettingTable, Values } from '../../config/settings.ts'
import { ChainsieveError, refuse } from '../../lib/errors.ts'
import type { Bars, Output } from '../../lib/progress.ts'
import type { Run } from '../../lib/shutdown.ts'
import type { Services } from '../index.ts'
import type { Summary } from '../jobs.ts'

export interface Streams {
  stdin: Readable & { isTTY?: boolean }
  stdout: Writable & Output
  stderr: Output
}

export interface CommandContext<O extends SettingTable = SettingTable> extends Run, Bars {
  config: Config
  options: Values<O>
  args: string[]
  services: Services
  streams: Streams
  cwd: string
  print(line: string): void
}

export interface Command<O extends SettingTable = SettingTable, R = unknown> {
  /** One word or two. */
  name: string
  /** Arguments as the usage shows them. */
  usage: string
  /** One sentence. */
  summary: string
  /** Settings accepted as flags, in addition to `data`, `config` and `json`. */
  settings: readonly SettingName[]
  /** Defaults of settings for this command. */
  defaults?: Flags
  options: O
  /** Whether to write an audit entry. Changes of tokens and rules write their own. */
  audited?: true
  arity: readonly [least: number, most: number]
  /** Without `format`, `run` prints by itself and returns the exit code. */
  run(context: CommandContext<O>): Promise<R>
  /** Formats the result as text; `--json` prints the result itself, or the output of `json`. */
  format?(result: R, context: CommandContext<O>): string
  json?(result: R): unknown
  /** Exit code of a result; default 0. */
  code?(result: R): number
}

export const command = <const O extends SettingTable, R>(command: Command<O, R>): Command =>
  command as unknown as Command

/** Runs a command and prints its result; resolves to the exit code. */
export const runCommand = async ({ run, format, json, code }: Command, context: CommandContext): Promise<number> => {
  const result = await run(context)
  if (!format) return (result as number | undefined) ?? 0
  const text = context.config.json ? JSON.stringify(json ? json(result) : result) : format(result, context)
  if (text !== '') context.print(text)
  return code?.(result) ?? 0
}

export const MISUSE_CODE = 'used_wrongly'

/** Refuses what was typed: exit code 2, with a pointer to the help text. */
export const misused = (message: string) => refuse(MISUSE_CODE, message)

/** Network of a command: `--network`, or the only network of the config file. */
export const commandNetwork = ({ network, networks }: Config): NetworkConfig => {
  const found = network === undefined ? networks[0] : networks.find(it => it.network === network)
  if (!found) throw misused('Which network? Add --network T/B/N.')
  if (network === undefined && networks.length > 1)
    throw misused(`Which network? Add --network with one of ${networks.map(it => it.network).join(', ')}.`)
  return found
}

export const refusing = async <T>(find: () => T | Promise<T>): Promise<T> => {
  try {
    return await find()
  } catch (error) {
    throw error instanceof ChainsieveError && error.next === 'refuse' ? misused(error.message) : error
  }
}

/** Exit code of a back-fill or import after its summary is printed. Throws its failure. */
export const exitCodeOf = ({ failure, missing, unread }: Summary, { shutdown, log }: Run): number => {
  const isUnfinished = missing.length > 0 || unread.length > 0
  if (failure) {
    if (isUnfinished) log.warn('Failed before the end; stored blocks are kept, and the same command continues here')
    throw failure
  }
  if (!shutdown.signal.aborted) return 0
  log.warn('Stopped before the end; the same command continues here')
  return 1
}

export const COMMON_SETTINGS = ['data', 'config', 'json'] as const satisfies readonly (keyof typeof SETTINGS)[]

export const SERVER_SETTINGS = [
  'host',
  'port',
  'esListen',
  'defaultNetwork',
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
  'publicUrl',
  'smtp',
  'mailFrom',
  'mailDigest',
  'deliveryTimeout',
  'deliveryRetries',
  'keepDeliveries',
] as const satisfies readonly (keyof typeof SETTINGS)[]

export const RETENTION_SETTINGS = [
  'keepBlocks',
  'keepFor',
  'keepAlerts',
  'keepAudit',
] as const satisfies readonly SettingName[]

export const NODE_SETTINGS = [
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
  'explorer',
  'verifyLogs',
  'traces',
  'currency',
  'flatArgs',
  'requestTimeout',
  'rpcBatch',
  'rpcConcurrency',
  'rpcRate',
  'rpcDaily',
  'rpcMonth',
  'rpcCosts',
  'storeBatch',
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

/** To ask nodes for something within their budgets. */
export const CALL_SETTINGS = [
  'network',
  'rpc',
  'rpcRate',
  'rpcDaily',
  'rpcMonth',
  'rpcCosts',
  'requestTimeout',
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

export const CLUSTER_SETTINGS = [
  'store',
  ...CLUSTER_OPTIONS,
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]

export const SCOPE_SETTINGS = [
  'contract',
  'event',
  'transactions',
] as const satisfies readonly (keyof typeof NETWORK_SETTINGS)[]
