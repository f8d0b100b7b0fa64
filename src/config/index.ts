import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import * as v from 'valibot'
import { messageOf, refuse } from '../lib/errors.ts'
import { readAtMost } from '../lib/files.ts'
import { didYouMean } from '../lib/name-matching.ts'
import { DEFAULT_LIMITS, type Limits, overLimit } from '../limits/index.ts'
import { KNOWN_CHAINS } from './chains.ts'
import { type ClusterConfig, type ClusterSetting, clusterOf } from './cluster.ts'
import { allowancesOf } from './kinds.ts'
import { type Scoping, scopingOf } from './scopes.ts'
import { NETWORK_SETTINGS, placesOf, SETTINGS, type Setting, type SettingTable, type Values } from './settings.ts'

export type { ClusterConfig } from './cluster.ts'
export type { BlockPoint } from './kinds.ts'
export type { Scoping, WantedScope } from './scopes.ts'

/** Settings of the program, durations in milliseconds and sizes in bytes. */
export interface Config extends Omit<Values<typeof SETTINGS>, 'config' | 'limit'> {
  limits: Limits
  /** The config file that was read. */
  file: string | undefined
  networks: NetworkConfig[]
  /** The network that flags or environment name: the one that a command is about. */
  network: string | undefined
}

/** Settings of one network, `network` being its name. */
export interface NetworkConfig extends Omit<Values<typeof NETWORK_SETTINGS>, 'scopes' | ClusterSetting> {
  network: string
  /** Cluster of its documents; undefined if its file holds them. */
  cluster: ClusterConfig | undefined
  /** Undefined: all of the chain is wanted. */
  scoping: Scoping | undefined
}

/** Values of flags by the name of their setting, as typed; a list setting has an array. */
export type Flags = Readonly<Record<string, string | string[] | boolean>>

export interface ConfigSources {
  flags?: Flags
  /** Like flags, but the environment overrides them. */
  defaults?: Flags
  env?: Readonly<Record<string, string | undefined>>
  cwd?: string
}

/**
 * Reads the configuration: flags override the environment, which overrides the config file, which
 * overrides defaults. Unknown or invalid settings are refused with their place.
 */
export const loadConfig = ({
  flags = {},
  defaults = {},
  env = process.env,
  cwd = process.cwd(),
}: ConfigSources = {}): Config => {
  const fromEnv = readEnvironment(env)
  const named = { ...fromFlags(defaults), ...fromEnv, ...fromFlags(flags) }
  const file = findFile(named, cwd)
  const [common, networks] = file === undefined ? [{}, []] : readFile(file.path)
  if (file?.found && common.data)
    throw refuse('bad_setting', `${common.data.place}: the config file in the data folder cannot name another one.`)

  const raw = { ...common, ...named }
  const values = checkSettings(SETTINGS, raw)
  const { config: _, limit, ...settings } = values
  const fileOf = (name: 'tlsCert' | 'tlsKey') => values[name] && resolve(raw[name]?.base ?? cwd, values[name])
  return {
    ...settings,
    limits: { ...DEFAULT_LIMITS, ...Object.fromEntries(limit) },
    data: resolve(raw.data?.base ?? cwd, values.data),
    tlsCert: fileOf('tlsCert'),
    tlsKey: fileOf('tlsKey'),
    file: file?.path,
    ...networksOfSettings(networks, pick(NETWORK_SETTINGS, named)),
  }
}

/** Reads a command's own flags, which are not settings, by their table. */
export const readFlags = <T extends SettingTable>(table: T, flags: Flags): Values<T> =>
  checkSettings(table, fromFlags(flags))

/** A value as it was given, and where, for error messages. */
interface Raw {
  value: unknown
  place: string
  /** The folder that a relative path is meant from; absent where that is the working directory. */
  base?: string
}

type RawSettings = Partial<Record<string, Raw>>

const ALL: Record<string, Setting> = { ...SETTINGS, ...NETWORK_SETTINGS }

const fromFlags = (flags: Flags): RawSettings =>
  Object.fromEntries(Object.entries(flags).map(([name, value]) => [name, { value, place: placesOf(name).flag }]))

const readEnvironment = (env: Readonly<Record<string, string | undefined>>): RawSettings => {
  const names = new Map(Object.keys(ALL).map(name => [placesOf(name).env, name]))
  const raw: RawSettings = {}
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('CHAINSIEVE_') || isServiceLink(variable, text)) continue
    const name = names.get(variable)
    if (name === undefined)
      throw refuse(
        'unknown_setting',
        `Environment variable ${variable} is not a setting.${didYouMean(variable, names.keys())}`,
      )
    // Compose files and unit files unset a variable by setting it to an empty text.
    if (text === undefined || text === '') continue
    const value = ALL[name]!.list ? text.split(APART).map(part => part.trim()) : text
    raw[name] = { value, place: variable }
  }
  return raw
}

/** Commas, but for those in the parentheses of an event. */
const APART = /,(?![^()]*\))/

// Kubernetes gives every container variables for a service that is called chainsieve.
const isServiceLink = (variable: string, text = '') =>
  /^CHAINSIEVE_(SERVICE_(HOST|PORT)|PORT_\d+_)/.test(variable) ||
  (variable === 'CHAINSIEVE_PORT' && /^(tcp|udp|sctp):\/\//.test(text))

const findFile = (named: RawSettings, cwd: string): { path: string; found: boolean } | undefined => {
  const { config, data } = checkSettings(SETTINGS, pick(SETTINGS, named))
  if (config !== undefined) return { path: resolve(cwd, config), found: false }
  const path = join(resolve(cwd, data), 'chainsieve.toml')
  return existsSync(path) ? { path, found: true } : undefined
}

const readFile = (path: string): [RawSettings, RawSettings[]] => {
  const { networks = [], ...common } = parseFile(path)
  if (!Array.isArray(networks) || !networks.every(isTable))
    throw refuse('bad_setting', `${path}: networks must be a list of tables, each of which begins with [[networks]].`)
  return [
    readTable(common, path, FILE_NAMES, key => {
      if (NETWORK_FILE_NAMES.has(key)) return ' It is a setting of a network: put it under [[networks]].'
      return didYouMean(key, [...FILE_NAMES.keys(), 'networks'])
    }),
    networks.map((table, i) =>
      readTable(table, `${path}: networks[${i}]`, NETWORK_FILE_NAMES, key => {
        if (FILE_NAMES.has(key)) return ' It is not a setting of a network: put it above the first [[networks]].'
        return didYouMean(key, NETWORK_FILE_NAMES.keys())
      }),
    ),
  ]
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

const parseFile = (path: string): Record<string, unknown> => {
  let text: string
  try {
    const bytes = readAtMost(path, DEFAULT_LIMITS.inputFile)
    if (!bytes) throw overLimit('inputFile', DEFAULT_LIMITS, 'It')
    text = bytes.toString()
  } catch (error) {
    throw refuse('config_file_unreadable', `The config file ${path} cannot be read: ${messageOf(error)}`, error)
  }
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const reason = error.message.split('\n', 1)[0]!.replace('Invalid TOML document: ', '')
    // Not as its cause: that quotes the file, keys included.
    throw refuse('config_file_broken', `${path}, line ${error.line}, column ${error.column}: ${reason}.`)
  }
}

const fileNames = (names: string[]) => new Map(names.map(name => [placesOf(name).file, name]))

const FILE_NAMES = fileNames(Object.keys(SETTINGS).filter(name => name !== 'config'))
const NETWORK_FILE_NAMES = fileNames(Object.keys(NETWORK_SETTINGS))

const readTable = (
  table: Record<string, unknown>,
  where: string,
  names: ReadonlyMap<string, string>,
  hint: (key: string) => string,
): RawSettings => {
  const raw: RawSettings = {}
  for (const [key, value] of Object.entries(table)) {
    const name = names.get(key)
    if (name === undefined) throw refuse('unknown_setting', `${where}: ${key} is not a setting.${hint(key)}`)
    raw[name] = { value, place: `${where}: ${key}`, base: dirname(where) }
  }
  return raw
}

const pick = (settings: Record<string, Setting>, raw: RawSettings): RawSettings =>
  Object.fromEntries(Object.entries(raw).filter(([name]) => Object.hasOwn(settings, name)))

const networksOfSettings = (fromFile: RawSettings[], named: RawSettings): Pick<Config, 'networks' | 'network'> => {
  const networks = fromFile.map((raw, i) => {
    if (!raw.network) throw refuse('bad_setting', `networks[${i}] in the config file needs a name: network = "T/B/N".`)
    return { name: readSetting(NETWORK_SETTINGS.network, raw.network) as string, raw: { ...presetOf(raw), ...raw } }
  })
  const twice = networks.find(({ name }, i) => networks.findIndex(other => other.name === name) < i)
  if (twice) throw refuse('bad_setting', `${twice.raw.network!.place}: ${twice.name} is configured twice.`)

  let network = named.network && (readSetting(NETWORK_SETTINGS.network, named.network) as string)
  const [first] = Object.values(named)
  if (first) {
    if (network === undefined && networks.length === 1) network = networks[0]!.name
    if (network === undefined) throw refuse('bad_setting', `${first.place} needs a network: add --network T/B/N.`)
    const known = networks.find(({ name }) => name === network)
    if (known) known.raw = { ...presetOf(named), ...known.raw, ...named }
    else networks.push({ name: network, raw: { ...presetOf(named), ...named } })
  }
  return { network, networks: networks.map(({ name, raw }) => networkConfigOf(name, raw)) }
}

/** Settings of a chain that is named by its short name; explicit settings override them. */
const presetOf = ({ network }: RawSettings): RawSettings => {
  const chain = KNOWN_CHAINS.get(String(network?.value))
  if (!chain) return {}
  const { id, finality, skipBloom = false } = chain
  return Object.fromEntries(
    Object.entries({ chainId: id, finality, skipBloom }).map(([name, value]) => [
      name,
      { value, place: network!.place },
    ]),
  )
}

const networkConfigOf = (network: string, raw: RawSettings): NetworkConfig => {
  const values = checkSettings(NETWORK_SETTINGS, raw)
  const { from, to } = values
  if (from && to && 'block' in from && 'block' in to && from.block > to.block)
    throw refuse('bad_setting', `${raw.to!.place}: the last block, ${to.block}, is before the first, ${from.block}.`)
  if (values.verifyLogs && values.rpc.length < 2)
    throw refuse('bad_setting', `${raw.verifyLogs!.place} compares the logs of two endpoints: it requires --rpc twice.`)
  const { cluster, rest } = clusterOf(values, raw)
  const { scopes, ...settings } = rest
  const at = { place: raw.scopes?.place ?? '', base: raw.scopes?.base ?? process.cwd() }
  return { ...settings, network, cluster, scoping: scopingOf(values, scopes, at) }
}

const checkSettings = <T extends SettingTable>(settings: T, raw: RawSettings): Values<T> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => {
      const given = raw[name] ?? (setting.fallback === undefined ? undefined : { value: setting.fallback, place: name })
      if (given) return [name, readSetting(setting, given)]
      return [name, setting.list ? [] : undefined]
    }),
  ) as Values<T>

const readSetting = ({ kind, list }: Setting, { value, place }: Raw): unknown => {
  const one = (value: unknown) => {
    const result = v.safeParse(kind.schema, value)
    if (result.success) return result.output
    const got = kind.secret ? '' : `, not ${JSON.stringify(value)}`
    const why = kind.explains && result.issues[0].message !== '' ? ` (${result.issues[0].message})` : ''
    throw refuse('bad_setting', `${place} takes ${kind.takes}${got}${why}.`)
  }
  if (!list) return one(value)
  return (Array.isArray(value) ? value : [value]).map(one)
}

export const nodeOptions = (network: NetworkConfig) => ({
  urls: network.rpc.map(url => url.reveal()),
  allowances: allowancesOf(network),
  ...(network.ws && { wsUrl: network.ws.reveal() }),
  ...(network.pollInterval !== undefined && { pollMs: network.pollInterval }),
  ...(network.chainId !== undefined && { chainId: network.chainId }),
  bloom: !network.skipBloom,
  verifyLogs: network.verifyLogs,
  traces: network.traces,
  timeoutMs: network.requestTimeout,
  batch: network.rpcBatch,
  concurrency: network.rpcConcurrency,
})
