import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { PruneLimits } from '../engine/prune.ts'
import { makePrivateFolder, PRIVATE_FILE, replaceFile, syncFolder } from '../lib/files.ts'
import type { ChainScope } from '../scopes/factory.ts'
import { abiFile, jsonFileNames, type StoredAbi } from './decoding/abi-files.ts'

/** A request to prune, in a file next to the store; its writer removes the file when done. */
export interface PruneRequest extends PruneLimits {
  /** Alerts that ended before, in epoch milliseconds; `taken`: last outbox entry taken over. */
  alerts?: { before: number; taken: number } | undefined
}

type AskedBy = 'hand' | 'settings'

const BOTH: readonly AskedBy[] = ['hand', 'settings']

/** Handled by the indexer thread, which writes the blocks again. */
interface NarrowRequest {
  scopes: readonly ChainScope[]
}

/** Handled by the indexer thread, which knows the stored and pending blocks. */
interface ForgetRequest {
  lost: true
}

export type PruneRequestKind = AskedBy | 'scopes' | 'lost'

const requestFile = (store: string, by: PruneRequestKind): string => `${store}-prune-${by}`

export const askToPrune = (store: string, by: AskedBy, request: PruneRequest) =>
  writeRequest(requestFile(store, by), request)

export const askToNarrow = (store: string, request: NarrowRequest) =>
  writeRequest(requestFile(store, 'scopes'), request)

export const askToForget = (store: string) => writeRequest(requestFile(store, 'lost'), { lost: true })

const writeRequest = (path: string, request: PruneRequest | NarrowRequest | ForgetRequest) =>
  replaceFile(path, JSON.stringify(request))

export const isPruneAsked = (store: string, by?: PruneRequestKind): boolean =>
  (by ? [by] : [...BOTH, 'scopes' as const, 'lost' as const]).some(one => existsSync(requestFile(store, one)))

export const withdraw = (store: string, by: PruneRequestKind) => rmSync(requestFile(store, by), { force: true })

export interface OpenRequest<R = PruneRequest> {
  request: R
  /** Ends this request; a newer one stays. */
  end(): void
}

export const openPruneRequest = (store: string): OpenRequest | undefined => {
  for (const by of BOTH) {
    const open = openFile<PruneRequest>(requestFile(store, by))
    if (open) return open
  }
  return undefined
}

export const openNarrowRequest = (store: string): OpenRequest<NarrowRequest> | undefined =>
  openFile(requestFile(store, 'scopes'))

export const openForgetRequest = (store: string): OpenRequest<ForgetRequest> | undefined =>
  openFile(requestFile(store, 'lost'))

const openFile = <R>(path: string): OpenRequest<R> | undefined => {
  const text = readRequest(path)
  if (text === undefined) return undefined
  try {
    return { request: JSON.parse(text) as R, end: () => readRequest(path) === text && rmSync(path, { force: true }) }
  } catch {
    // The request is unreadable.
    rmSync(path, { force: true })
    return undefined
  }
}

const readRequest = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A request to decode a network again, with its progress; repeating a step changes nothing. */
export interface RedecodeRequest {
  path: string
  network: string
  abi: string
  /** Newest block left to search; null before the first step. */
  next: number | null
  inCluster?: true
}

export const redecodeFolder = (data: string): string => join(data, 'redecode')
/** Every request counts, even a repeated one for an ABI: other ABIs may have changed. */
export const askToRedecode = (folder: string, abi: StoredAbi, networks: readonly string[]): RedecodeRequest[] =>
  askToRedecodeBy(folder, abiFile(abi), networks)
export const askToRedecodeBy = (folder: string, file: string, networks: readonly string[]): RedecodeRequest[] => {
  makePrivateFolder(folder)
  const asked = networks.map(network => {
    const name = [Date.now(), network.replaceAll('/', '~'), file].join('-')
    const redecoding = { path: join(folder, name), network, abi: file, next: null }
    writeRedecode(redecoding)
    return redecoding
  })
  syncFolder(folder)
  return asked
}

export const openRedecodings = (folder: string, network?: string): RedecodeRequest[] =>
  jsonFileNames(folder).flatMap(name => {
    const redecoding = readRedecode(folder, name)
    return redecoding && (network === undefined || redecoding.network === network) ? [redecoding] : []
  })
export const noteProgress = (redecoding: RedecodeRequest, next: number) => {
  redecoding.next = next
  writeRedecode(redecoding)
}

export const noteStoreDone = (redecoding: RedecodeRequest) => {
  redecoding.inCluster = true
  noteProgress(redecoding, Number.MAX_SAFE_INTEGER)
}

export const noteBack = (redecoding: RedecodeRequest) => {
  delete redecoding.inCluster
  redecoding.next = null
  writeRedecode(redecoding)
}

export const endRedecoding = ({ path }: RedecodeRequest) => {
  rmSync(path, { force: true })
  rmSync(stopFile(path), { force: true })
}

export const redecodeId = ({ path }: RedecodeRequest): string => basename(path, '.json')
export const askedAt = (redecoding: RedecodeRequest): number => Number(redecodeId(redecoding).split('-')[0])
/** A separate file, since each step of decoding rewrites the other. */
const stopFile = (path: string): string => path.replace(/\.json$/, '.stop')
/** Ends decoding before the next step and keeps finished ones; ends an unstarted one at once. */
export const stopRedecode = ({ path }: RedecodeRequest, hasBegun: boolean) => {
  writeFileSync(stopFile(path), '', { mode: PRIVATE_FILE })
  if (!hasBegun) rmSync(path, { force: true })
}

export const isStopped = ({ path }: RedecodeRequest): boolean => existsSync(stopFile(path))
/** Each step writes it, so it is not synced: see `readRedecode`. */
const writeRedecode = ({ path, ...redecoding }: RedecodeRequest) => {
  writeFileSync(`${path}.new`, JSON.stringify(redecoding), { mode: PRIVATE_FILE })
  renameSync(`${path}.new`, path)
}

const REQUEST_NAME = /^\d+-(.+)-([0-9a-f]{16}\.json)$/
/** A power cut may empty the file: what its name tells is begun anew, as repeating a step changes nothing. */
const readRedecode = (folder: string, name: string): RedecodeRequest | undefined => {
  const path = join(folder, name)
  const text = readRequest(path)
  if (text === undefined) return undefined
  try {
    return { ...(JSON.parse(text) as Omit<RedecodeRequest, 'path'>), path }
  } catch {
    const [, network, abi] = REQUEST_NAME.exec(name) ?? []
    return network && abi ? { path, network: network.replaceAll('~', '/'), abi, next: null } : undefined
  }
}
