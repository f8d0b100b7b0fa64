import { type Clock, systemClock } from '../../lib/retry.ts'
import type { Cluster, ClusterRequest } from '../connection/cluster.ts'
import { expectOkText } from '../connection/expect-ok.ts'

/**
 * Lets one process at a time write the documents of a network. The holder renews a document in the cluster every few
 * seconds. Another process takes over, with the next term, once that document stayed the same for long enough by its own
 * clock: clocks need not agree. A holder that could not renew in time stops by itself; what it sent has a lower term.
 */
export type Lease = ReturnType<typeof createLease>

interface LeaseOptions {
  cluster: Cluster
  /** See `stateIndexOf`. */
  index: string
  /** Of the process, and of one that goes on with its work once it is gone for sure: it gets the lease at once, and the same term. */
  id: string
  /** A name for people: host and process. */
  name: string
  clock?: Clock
  /** How long a document stays the same before its holder counts as gone. */
  ttlMs?: number | undefined
}

const LEASE_TTL_MS = 20_000
/** The holder gives up so much earlier than others take over. */
const HOLDER_MARGIN = 0.75
const RENEWALS = 4

interface LeaseRecord {
  term: number
  holder: string
  id: string
  renewal: number
}

interface StoredLease {
  held: LeaseRecord
  /** What the cluster knows the state of the document by. */
  seqNo: number
  primaryTerm: number
}

export const createLease = ({ cluster, index, id, name, clock = systemClock, ttlMs = LEASE_TTL_MS }: LeaseOptions) => {
  const path = `/${index}/_doc/lease`
  const losing = new AbortController()
  const stopping = new AbortController()
  let mine: StoredLease | undefined
  let other: string | undefined
  /** What was read last, and since when it is the same: kept while reading fails, since a holder that is gone renews nothing then either. */
  let seen: StoredLease | undefined
  let since = 0

  const read = async (): Promise<StoredLease | undefined> => {
    const answer = await cluster.ask({ method: 'GET', path, timeoutMs: ttlMs / 2 })
    if (answer.status === 404) return undefined
    const { _source, _seq_no, _primary_term } = JSON.parse(
      expectOkText(answer, { method: 'GET', path }, 'read the lease'),
    ) as {
      _source: { value: string }
      _seq_no: number
      _primary_term: number
    }
    return { held: JSON.parse(_source.value) as LeaseRecord, seqNo: _seq_no, primaryTerm: _primary_term }
  }

  /** Writes over a state that was read; undefined where another process was quicker. */
  const write = async (
    held: LeaseRecord,
    over: StoredLease | undefined,
    patience: Pick<ClusterRequest, 'timeoutMs' | 'retries'> = { timeoutMs: ttlMs / 2 },
  ): Promise<StoredLease | undefined> => {
    const query = over ? { if_seq_no: over.seqNo, if_primary_term: over.primaryTerm } : ({ op_type: 'create' } as const)
    const body = { value: JSON.stringify(held) }
    const answer = await cluster.ask({ method: 'PUT', path, query, body, ...patience })
    if (answer.status === 409) return undefined
    const text = expectOkText(answer, { method: 'PUT', path }, 'write the lease')
    const { _seq_no, _primary_term } = JSON.parse(text) as { _seq_no: number; _primary_term: number }
    return { held, seqNo: _seq_no, primaryTerm: _primary_term }
  }

  /** What was written last may have been this process's own, of which no answer came. */
  const renew = async () => {
    const next = { ...mine!.held, renewal: mine!.held.renewal + 1 }
    const written = await write(next, mine)
    if (written) return written
    const found = await read()
    return found?.held.id === id && found.held.term === next.term ? found : undefined
  }

  const keep = async (acquiredAt: number) => {
    let renewedAt = acquiredAt
    for (;;) {
      await clock.sleep(ttlMs / RENEWALS, stopping.signal)
      const begun = clock.elapsed()
      try {
        mine = await Promise.race([renew(), lateAfter(renewedAt + ttlMs * HOLDER_MARGIN - begun)])
        if (!mine) return lose(`another process has taken over`)
        renewedAt = begun
      } catch {
        // The next one may succeed.
      }
      if (clock.elapsed() - renewedAt >= ttlMs * HOLDER_MARGIN)
        return lose(`the lease could not be renewed for ${(ttlMs * HOLDER_MARGIN) / 1000} s`)
    }
  }

  /** Fails when it is time to give up, whatever hangs. */
  const lateAfter = (ms: number): Promise<never> =>
    clock.sleep(Math.max(0, ms), stopping.signal).then(() => {
      throw new Error('the cluster takes too long')
    })

  const lose = (why: string) => {
    mine = undefined
    losing.abort(new Error(why))
  }

  return {
    /** Aborts when the lease is lost. */
    lost: losing.signal,
    /** Who holds it, where it is another one, as that one calls itself. */
    holder: () => other,
    /** Waits until the lease is this process's own, and tells the term. */
    async acquire(signal: AbortSignal) {
      for (;;) {
        signal.throwIfAborted()
        const found = await read()
        const isSame = found && seen && found.seqNo === seen.seqNo && found.primaryTerm === seen.primaryTerm
        if (!isSame) since = clock.elapsed()
        seen = found
        const isOwn = found?.held.id === id
        const isFree = found === undefined || isOwn || found.held.holder === '' || clock.elapsed() - since >= ttlMs
        if (isFree) {
          // Others count from when it is written, which is before the answer comes.
          const begun = clock.elapsed()
          const term = (found?.held.term ?? 0) + (isOwn ? 0 : 1)
          mine = await write({ term, holder: name, id, renewal: (found?.held.renewal ?? 0) + 1 }, found)
          if (mine) {
            other = undefined
            keep(begun).catch(() => {})
            return term
          }
        } else other = found.held.holder
        await clock.sleep(ttlMs / RENEWALS / 2, signal)
      }
    },
    /** Gives it up at once, so that the next one need not wait. */
    async release() {
      stopping.abort()
      const last = mine
      mine = undefined
      // Nobody waits for a cluster that is away.
      if (last) await write({ ...last.held, holder: '' }, last, { timeoutMs: 1_000, retries: 0 }).catch(() => {})
    },
  }
}
