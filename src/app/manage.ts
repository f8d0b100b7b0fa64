import type { Accounts } from '../accounts/index.ts'
import type { Config } from '../config/index.ts'
import { storedNetworks, storeFile } from '../engine/files.ts'
import type { AbiShelf, Management, RedecodingService } from '../http/manage/routes.ts'
import type { RateSample, RatesAnswer, RedecodingAnswer as RedecodingInfo } from '../http/shapes/management.ts'
import { abiFolder } from '../ingest/decoding/abi-files.ts'
import type { Indexing } from '../ingest/network.ts'
import {
  askedAt,
  askToRedecodeBy,
  isStopped,
  openRedecodings,
  type RedecodeRequest,
  redecodeFolder,
  redecodeId,
  stopRedecode,
} from '../ingest/requests.ts'
import type { NetworkState, ServerStatus } from '../ingest/status/status.ts'
import { refuse } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { repeatEvery } from '../lib/scheduling/interval.ts'
import type { Pool } from '../search/pool.ts'
import { createAbiOf } from './manage/abi-of-address.ts'
import { createAbiShelf } from './manage/abi-store.ts'
import { createStorage } from './manage/storage.ts'
import { storeOf } from './stores.ts'

interface ManagementOptions {
  config: Config
  accounts: Pick<Accounts, 'token' | 'trail'>
  pool: Pick<Pool, 'get'>
  networks(): readonly string[]
  indexings: readonly Indexing[]
  watching?: ((network: string) => Indexing | undefined) | undefined
  status(): Promise<ServerStatus>
  log: Log
}

/** Management of a running server over HTTP; `stop` ends its timers. */
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
  const rates = createRateSampler(status, log)
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

const SAMPLE_INTERVAL_MS = 10_000
/** An hour of them. */
const MAX_SAMPLES = 360

/** Samples of the status over the last hour. */
export const createRateSampler = (status: () => Promise<ServerStatus>, log: Log) => {
  const samples = new Map<string, RateSample[]>()
  const take = async () => {
    const { networks } = await status()
    const at = new Date().toISOString()
    for (const network of networks) {
      const list = samples.get(network.network) ?? []
      list.push(sampleOf(network, at))
      if (list.length > MAX_SAMPLES) list.shift()
      samples.set(network.network, list)
    }
    for (const name of samples.keys()) if (!networks.some(({ network }) => network === name)) samples.delete(name)
  }
  // A first sample at once; the next one reports errors.
  take().catch(() => {})
  return {
    stop: repeatEvery(SAMPLE_INTERVAL_MS, take, { log, doing: 'note how fast networks are indexed' }),
    take,
    of: (wanted: string | undefined): RatesAnswer => ({
      everyMs: SAMPLE_INTERVAL_MS,
      networks: Array.from(samples, ([network, list]) => ({ network, samples: list })).filter(
        ({ network }) => wanted === undefined || network === wanted,
      ),
    }),
  }
}

const sampleOf = (
  { head, ranges, lag, blocksPerSecond, eventsPerSecond, secondsLeft }: NetworkState,
  at: string,
): RateSample => ({ at, head, top: ranges.at(-1)?.to ?? null, lag, blocksPerSecond, eventsPerSecond, secondsLeft })

interface RedecodingsOptions {
  /** Folder of the requests. */
  folder: string
  shelf: Pick<AbiShelf, 'info'>
  /** Networks that are stored. */
  stored(): string[]
  /** The indexing or watching of a network. */
  indexingOf(network: string): Pick<Indexing, 'report'> | undefined
}

/** Decoding stored blocks again, as HTTP asks for it: by the same files as the command line. */
export const createRedecodings = ({ folder, shelf, stored, indexingOf }: RedecodingsOptions): RedecodingService => {
  const show = async (redecoding: RedecodeRequest, isFirst: boolean): Promise<RedecodingInfo> => {
    const { network, next } = redecoding
    const abi = redecoding.abi.replace(/\.json$/, '')
    const report = isFirst ? indexingOf(network)?.report().redecoding : undefined
    const isRunning = isFirst && (next !== null || report != null)
    return {
      ...{ id: redecodeId(redecoding), network, abi },
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
      const started = new Set(asked.flat().map(redecodeId))
      return (await list()).filter(({ id }) => started.has(id))
    },
    async stop(id) {
      const found = openRedecodings(folder).find(redecoding => redecodeId(redecoding) === id)
      const shown = found && (await list()).find(redecoding => redecoding.id === id)
      if (!found || !shown) return undefined
      stopRedecode(found, shown.state !== 'waiting')
      return { ...shown, state: 'stopping' }
    },
  }
}
