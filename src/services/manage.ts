import { existsSync } from 'node:fs'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Accounts } from '../accounts/index.ts'
import type { Config } from '../config/index.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import { createLinkLookups } from '../engine/lookups/index.ts'
import { readStore } from '../engine/open.ts'
import type { AbiShelf, Management, Redecodings } from '../http/manage/service.ts'
import type {
  Abi,
  AbiOfAddress,
  RateSample,
  Rates,
  Redecoding as RedecodingInfo,
  WholeAbi,
} from '../http/shapes/management.ts'
import {
  abiFile,
  abiFolder,
  abiIn,
  fileNames,
  keepAbis,
  removeAbiFile,
  type StoredAbi,
} from '../ingest/decoding/abis.ts'
import type { Indexing } from '../ingest/network.ts'
import {
  askedAt,
  askToRedecodeBy,
  idOf,
  isStopped,
  openRedecodings,
  type Redecoding,
  redecodeFolder,
  stopRedecoding,
} from '../ingest/requests/redecode-requests.ts'
import type { NetworkStatus, Status } from '../ingest/status/status.ts'
import { messageOf, refuse } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { mapInTurns } from '../lib/scheduling/event-loop.ts'
import { every } from '../lib/scheduling/interval.ts'
import type { Pool } from '../search/pool.ts'
import { createStorage } from './manage/storage.ts'
import { storeOf } from './stores.ts'

interface ManagementOptions {
  config: Config
  accounts: Pick<Accounts, 'token' | 'trail'>
  pool: Pick<Pool, 'get'>
  networks(): readonly string[]
  indexings: readonly Indexing[]
  watching?: ((network: string) => Indexing | undefined) | undefined
  status(): Promise<Status>
  log: Log
}

/** What a running server is managed by, over HTTP; `stop` ends what it does by itself. */
export const createManagement = ({
  config,
  accounts,
  pool,
  networks,
  indexings,
  watching,
  status,
  log,
}: ManagementOptions): Management & { stop(): void } => {
  const { data } = config
  const stored = () => storedNetworks(data)
  const indexed = (network: string) => indexings.find(it => it.network === network)
  const abis = createAbiShelf(abiFolder(data))
  const rates = createRates(status, log)
  return {
    token: accounts.token,
    note: accounts.trail.record,
    networks: () =>
      networks().map(network => ({
        network,
        indexed: indexed(network) !== undefined,
        traces: config.networks.find(it => it.network === network && it.rpc.length > 0)?.traces ?? null,
      })),
    abis,
    redecodings: createRedecodings({
      folder: redecodeFolder(data),
      shelf: abis,
      stored,
      indexingOf: network => indexed(network) ?? watching?.(network),
    }),
    abiOf: createAbiOf({
      pool,
      storeOf: network => (stored().includes(network) ? storeFile(data, network) : undefined),
      shelf: abis,
    }),
    rates: rates.of,
    storage: createStorage(network => storeOf(data, network)),
    stop: rates.stop,
  }
}

/** Of a longer file only the beginning is read: parsing all of it would hold up the event loop. */
const LARGEST = 4 * 2 ** 20
const HEAD = 4_096

/** The ABIs in a folder, as HTTP shows them. Files are read once each, as they come: their names change with their content. */
export const createAbiShelf = (folder: string): AbiShelf => {
  const known = new Map<string, Abi>()

  const infoOf = async (file: string): Promise<Abi | undefined> => {
    const before = known.get(file)
    if (before && existsSync(join(folder, file))) return before
    try {
      const handle = await open(join(folder, file))
      try {
        const info = await readInfo(handle, file)
        known.set(file, info)
        return info
      } finally {
        await handle.close()
      }
    } catch (error) {
      // Removed in the meantime.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw refuse(
        'bad_abi',
        `The ABI ${abiId(file)} cannot be read (${messageOf(error)}): the operator has to remove ${file} from the folder abis, and to add that ABI again.`,
        error,
      )
    }
  }

  return {
    async list({ network, address, codeHash, name }) {
      const found: Abi[] = []
      const files = fileNames(folder)
      for (const file of files) {
        const info = await infoOf(file)
        if (!info) continue
        const fits =
          (network === undefined || info.network === null || info.network === network) &&
          (address === undefined || info.address === address) &&
          (codeHash === undefined || info.codeHash === codeHash) &&
          (name === undefined || info.name === name)
        if (fits) found.push(info)
      }
      for (const file of known.keys()) if (!files.includes(file)) known.delete(file)
      return found.sort((a, b) => (a.name === b.name ? (a.id < b.id ? -1 : 1) : a.name < b.name ? -1 : 1))
    },

    info: id => infoOf(fileOf(id)),

    async get(id) {
      const info = await infoOf(fileOf(id))
      if (!info) return undefined
      if (info.bytes > LARGEST)
        throw refuse(
          'content_too_large_exception',
          `The ABI ${id} has ${info.bytes} bytes, and is shown up to ${LARGEST}: read it at the server, in the folder abis.`,
        )
      const stored = JSON.parse(await readFile(join(folder, fileOf(id)), 'utf8')) as StoredAbi
      return { ...info, abi: entriesOf(stored) }
    },

    async add(abis) {
      const stored = await mapInTurns(abis, ({ text, place, name, ...where }): StoredAbi => {
        const abi = abiIn(text, place, where, name ?? 'Unnamed')
        // What its sender calls it goes before what is in it.
        return name === undefined ? abi : { ...abi, name }
      })
      const files = await mapInTurns(stored, abi => {
        keepAbis(folder, [abi])
        return abiFile(abi)
      })
      const added: (Abi | undefined)[] = []
      for (const file of new Set(files)) added.push(await infoOf(file))
      return added.filter(info => info !== undefined)
    },

    remove: id => removeAbiFile(folder, fileOf(id)),
  }
}

const fileOf = (id: string): string => `${id}.json`
const abiId = (file: string): string => file.replace(/\.json$/, '')

const readInfo = async (handle: FileHandle, file: string): Promise<Abi> => {
  const { size, mtimeMs } = await handle.stat()
  const isLong = size > LARGEST
  const text = isLong
    ? (await handle.read({ buffer: Buffer.alloc(HEAD), position: 0 })).buffer.toString()
    : await handle.readFile('utf8')
  const abi = JSON.parse(isLong ? headOf(text) : text) as Partial<StoredAbi> & { name: string }
  return {
    id: abiId(file),
    name: abi.name,
    network: abi.network ?? null,
    address: abi.address ?? null,
    codeHash: abi.codeHash ?? null,
    probability: abi.probability ?? 1,
    events: isLong ? null : (abi.events?.length ?? 0),
    functions: isLong ? null : (abi.functions?.length ?? 0),
    errors: isLong ? null : (abi.errors?.length ?? 0),
    bytes: size,
    addedAt: new Date(mtimeMs).toISOString(),
  }
}

/** What stands before the declarations, as an object of its own. */
const headOf = (text: string): string => `${text.slice(0, text.indexOf('"events":')).trimEnd().replace(/,$/, '')}}`

const entriesOf = ({ events, functions, errors = [] }: StoredAbi): WholeAbi['abi'] => [
  ...events.map(event => ({ type: 'event', ...event })),
  ...functions.map(it => ({ type: 'function', ...it })),
  ...errors.map(error => ({ type: 'error', ...error })),
]

interface AbiOfOptions {
  pool: Pick<Pool, 'get'>
  /** File of a network's store; undefined where nothing is stored. */
  storeOf(network: string): string | undefined
  shelf: AbiShelf
}

/** A contract whose code runs, directly or behind a proxy. */
interface Run {
  address: string
  codeHash: string | null
  /** Null of the contract itself. */
  through: string | null
}

/** Proxies of proxies that are followed. */
const MAX_STEPS = 4
const MAX_CONTRACTS = 300

/** What decodes the logs and calls of a contract, the first first: ABIs for it, for its code, for what it runs, and those for all. */
const createAbiOf =
  ({ pool, storeOf, shelf }: AbiOfOptions) =>
  async (network: string, address: string, asking: { account: number; signal: AbortSignal }): Promise<AbiOfAddress> => {
    const store = storeOf(network)
    const runs = store === undefined ? [{ address, codeHash: null, through: null }] : runsOf(store, address)
    const contract = store === undefined ? undefined : await contractAt(pool, network, address, asking)
    const all = await shelf.list({ network })
    const own = (run: Run, by: 'address' | 'codeHash') =>
      all
        .filter(abi => abi[by] !== null && abi[by] === run[by])
        .map((abi): Decoder => ({ ...abi, source: run.through === null ? by : 'implementation', of: run.address }))
    const given = runs.flatMap(run => [...own(run, 'address'), ...own(run, 'codeHash')])
    const general = all
      .filter(abi => abi.address === null && abi.codeHash === null)
      .map((abi): Decoder => ({ ...abi, source: 'any', of: null }))
    const [first] = given
    return {
      ...{ network, address },
      source: (first?.source as AbiOfAddress['source'] | undefined) ?? contract?.abi?.source ?? null,
      name: first?.name ?? contract?.name ?? null,
      probability: first?.probability ?? contract?.probability ?? null,
      codeHash: runs[0]!.codeHash ?? contract?.codeHash ?? null,
      implementations: runs
        .slice(1)
        .map(run => ({ address: run.address, codeHash: run.codeHash, through: run.through })),
      abis: [...given, ...general],
    }
  }

/** The contract itself, and those whose code it runs at the head, the nearest first. */
const runsOf = (store: string, address: string): Run[] =>
  readStore(store, db => {
    const { link, upgrades } = createLinkLookups(db)
    const runs: Run[] = [{ address, codeHash: link(address)?.codeHash ?? null, through: null }]
    let open = [address]
    for (let step = 0; step < MAX_STEPS && open.length > 0 && runs.length < MAX_CONTRACTS; step++) {
      const next = open.flatMap(through => {
        const delegation = link(through)?.delegation
        const upgrade = upgrades(through).at(-1)?.implementation
        const targets = delegation?.targets.map(it => it.address) ?? []
        const runsNow = upgrade != null && delegation?.kind !== 'diamond' ? [upgrade] : targets
        return runsNow.map((address): Run => ({ address, codeHash: link(address)?.codeHash ?? null, through }))
      })
      const fresh = next.filter(run => !runs.some(it => it.address === run.address)).slice(0, MAX_CONTRACTS)
      runs.push(...fresh)
      open = fresh.map(run => run.address)
    }
    return runs
  })

type Decoder = AbiOfAddress['abis'][number]

interface ContractSource {
  name?: string | null
  codeHash?: string | null
  probability?: number | null
  abi?: { source: AbiOfAddress['source'] } | null
}

const contractAt = async (
  pool: Pick<Pool, 'get'>,
  network: string,
  address: string,
  asking: { account: number; signal: AbortSignal },
): Promise<ContractSource | undefined> => {
  const { status, body } = await pool.get({ network, entity: 'contract', id: address, ...asking })
  if (status !== 200) return undefined
  return (JSON.parse(Buffer.from(body as Uint8Array).toString()) as { _source: ContractSource })._source
}

interface RedecodingsOptions {
  /** Of what is asked for. */
  folder: string
  shelf: Pick<AbiShelf, 'info'>
  /** Networks that are stored. */
  stored(): string[]
  /** What attends to a network. */
  indexingOf(network: string): Pick<Indexing, 'report'> | undefined
}

/** Decoding stored blocks again, as HTTP asks for it: by the same files as the command line. */
export const createRedecodings = ({ folder, shelf, stored, indexingOf }: RedecodingsOptions): Redecodings => {
  const show = async (redecoding: Redecoding, isFirst: boolean): Promise<RedecodingInfo> => {
    const { network, next } = redecoding
    const abi = redecoding.abi.replace(/\.json$/, '')
    const report = isFirst ? indexingOf(network)?.report().redecoding : undefined
    const isRunning = isFirst && (next !== null || report != null)
    return {
      ...{ id: idOf(redecoding), network, abi },
      name: (await shelf.info(abi))?.name ?? null,
      askedAt: new Date(askedAt(redecoding)).toISOString(),
      state: isStopped(redecoding) ? 'stopping' : isRunning ? 'running' : 'waiting',
      nextBlock: next === null || next === Number.MAX_SAFE_INTEGER ? null : Math.max(0, next),
      blocksLeft: report?.blocksLeft ?? null,
    }
  }

  const list = async (): Promise<RedecodingInfo[]> => {
    const begun = new Set<string>()
    const shown: RedecodingInfo[] = []
    for (const redecoding of openRedecodings(folder)) {
      const isFirst = !begun.has(redecoding.network)
      begun.add(redecoding.network)
      shown.push(await show(redecoding, isFirst))
    }
    return shown
  }

  return {
    list,
    async start(ids, networks) {
      const wanted = new Map<string, string | null>()
      for (const id of ids) {
        const abi = /^[0-9a-f]{16}$/.test(id) ? await shelf.info(id) : undefined
        if (!abi)
          throw refuse('resource_not_found_exception', `There is no ABI ${id}: GET /abis/ lists those that were added.`)
        wanted.set(id, abi.network)
      }
      const here = stored().filter(network => networks === undefined || networks.includes(network))
      const asked = Array.from(wanted, ([id, network]) =>
        askToRedecodeBy(
          folder,
          `${id}.json`,
          here.filter(stored => network === null || stored === network),
        ),
      )
      const started = new Set(asked.flat().map(idOf))
      return (await list()).filter(({ id }) => started.has(id))
    },
    async stop(id) {
      const found = openRedecodings(folder).find(redecoding => idOf(redecoding) === id)
      const shown = found && (await list()).find(redecoding => redecoding.id === id)
      if (!found || !shown) return undefined
      stopRedecoding(found, shown.state !== 'waiting')
      return { ...shown, state: 'stopping' }
    },
  }
}

const EVERY_MS = 10_000
/** An hour of them. */
const KEPT = 360

/** What the status tells now and then, of the last hour. */
export const createRates = (status: () => Promise<Status>, log: Log) => {
  const samples = new Map<string, RateSample[]>()
  const take = async () => {
    const { networks } = await status()
    const at = new Date().toISOString()
    for (const network of networks) {
      const list = samples.get(network.network) ?? []
      list.push(sampleOf(network, at))
      if (list.length > KEPT) list.shift()
      samples.set(network.network, list)
    }
    for (const name of samples.keys()) if (!networks.some(({ network }) => network === name)) samples.delete(name)
  }
  // Whoever looks early sees something; what is wrong with it, the next one tells.
  take().catch(() => {})
  return {
    stop: every(EVERY_MS, take, { log, doing: 'note how fast networks are indexed' }),
    take,
    of: (wanted: string | undefined): Rates => ({
      everyMs: EVERY_MS,
      networks: Array.from(samples, ([network, list]) => ({ network, samples: list })).filter(
        ({ network }) => wanted === undefined || network === wanted,
      ),
    }),
  }
}

const sampleOf = (
  { head, ranges, lag, blocksPerSecond, eventsPerSecond, secondsLeft }: NetworkStatus,
  at: string,
): RateSample => ({ at, head, top: ranges.at(-1)?.to ?? null, lag, blocksPerSecond, eventsPerSecond, secondsLeft })
