import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { PruneLimits } from '../../engine/prune.ts'
import { PRIVATE_FILE } from '../../lib/private-files.ts'
import type { ChainScope } from '../../scopes/factory.ts'

/**
 * A request to prune, in a file next to the store: its writer does it in steps, and removes the
 * file.
 */
export interface PruneRequest extends PruneLimits {
  /**
   * Alerts that ended before, in epoch milliseconds; `taken`: up to where the outbox was taken
   * over.
   */
  alerts?: { before: number; taken: number } | undefined
}

type AskedBy = 'hand' | 'settings'

const BOTH: readonly AskedBy[] = ['hand', 'settings']

/** The thread that decodes does it, since blocks are written again. */
interface NarrowRequest {
  scopes: readonly ChainScope[]
}

/** The thread that decodes does it, since it knows which blocks are held. */
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

const writeRequest = (path: string, request: PruneRequest | NarrowRequest | ForgetRequest) => {
  writeFileSync(`${path}.new`, JSON.stringify(request), { mode: PRIVATE_FILE })
  renameSync(`${path}.new`, path)
}

export const isPruneAsked = (store: string, by?: PruneRequestKind): boolean =>
  (by ? [by] : [...BOTH, 'scopes' as const, 'lost' as const]).some(one => existsSync(requestFile(store, one)))

export const withdraw = (store: string, by: PruneRequestKind) => rmSync(requestFile(store, by), { force: true })

export interface OpenRequest<R = PruneRequest> {
  request: R
  /** It was done. Another one that came meanwhile stays. */
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
    // Nobody knows what it asked for.
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
