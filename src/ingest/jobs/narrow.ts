import { fitsAny } from '../../chain/logs/log-filter.ts'
import { cutBlock } from '../../chain/logs/wanted-blocks.ts'
import type { Scoping } from '../../config/scopes.ts'
import type { Lookups } from '../../engine/port.ts'
import type { Range } from '../../lib/ranges.ts'
import { type ChainScope, textOfFactory } from '../../scopes/factory.ts'
import { isOfLogs, remainingCoverage, type ScopeQuestion } from '../../scopes/questions.ts'
import type { Work } from '../job-context.ts'
import type { JobChanges } from '../pipeline.ts'
import { openNarrowRequest } from '../requests.ts'
import type { ScopeCut, StoredBlocks } from '../scoped/partial-blocks.ts'
import { questionsIn, scopesAt } from './scopes.ts'

const EMPTY_RANGE = { from: 0, to: -1 }
const EVERY_BLOCK = { from: 0, to: Number.MAX_SAFE_INTEGER }

export async function* narrowAsAsked(work: Pick<Work, 'store' | 'lookups' | 'log'>): JobChanges {
  for (let open = openNarrowRequest(work.store); open; open = openNarrowRequest(work.store)) {
    yield* narrow(work, open.request.scopes)
    open.end()
  }
}

/** Coverage goes first: after an interruption, a scope that wants something asks for it again. */
async function* narrow({ lookups, log }: Pick<Work, 'lookups' | 'log'>, scopes: readonly ChainScope[]): JobChanges {
  const { coverage } = lookups
  const questions = questionsIn(lookups, scopes)
  const kept = new Map([...coverage.covered().keys()].map(text => [text, remainingCoverage(text, questions)]))
  const orphans = coverage.children().filter(({ factory, number }) => !isWantedChild(scopes, factory, number))
  yield { type: 'cut', range: EMPTY_RANGE, keep: raw => raw, narrowed: { kept, orphans } }
  const keep = cutToQuestions(questions)
  for (const { first, last } of lookups.partial(EVERY_BLOCK)) {
    yield null
    yield { type: 'cut', range: { from: first, to: last }, keep }
  }
  log.info('Removed what is outside of the scopes')
}

/** Ends that are relative to the head are relative to the newest known block. */
export const scopesIn = (
  { coverage, partial }: Pick<Lookups, 'coverage' | 'partial'>,
  { scopes }: Scoping,
): ChainScope[] => scopesAt(scopes, coverage.newest()?.number ?? partial(EVERY_BLOCK).at(-1)?.last ?? 0)

const isWantedChild = (scopes: readonly ChainScope[], text: string, number: number): boolean =>
  scopes.some(({ factory, to = number }) => factory && textOfFactory(factory) === text && number <= to)

export const cutToQuestions = (questions: readonly ScopeQuestion[]): ScopeCut => {
  const logs = questions.filter(({ filter }) => isOfLogs(filter))
  const all = logs.map(({ filter, from, to }) => ({ from, to, fits: fitsAny([filter]) }))
  const senders = questions.filter(({ filter }) => !isOfLogs(filter))
  const sent = senders.map(({ filter, from, to }) => ({ from, to, addresses: new Set(filter.addresses) }))
  return raw => {
    const number = Number(raw.block.number)
    const isThere = ({ from, to }: Range) => from <= number && number <= to
    const [there, sentThere] = [all.filter(isThere), sent.filter(isThere)]
    const isSent = (address: string | null | undefined) =>
      typeof address === 'string' && sentThere.some(({ addresses }) => addresses.has(address.toLowerCase()))
    const rest = cutBlock(raw, (tx, { logs }) => {
      const wanted = logs.filter(log => there.some(({ fits }) => fits(log)))
      return wanted.length > 0 || isSent(tx.from) || isSent(tx.to) ? wanted : undefined
    })
    return rest.receipts.length > 0 ? rest : undefined
  }
}

export interface Outside {
  blocks: number
  transactions: number
  logs: number
}

export const countOutside = (
  lookups: Pick<Lookups, 'coverage' | 'partial'>,
  stored: Pick<StoredBlocks, 'read'>,
  scopes: readonly ChainScope[],
): Outside => {
  const cut = cutToQuestions(questionsIn(lookups, scopes))
  const found: Outside = { blocks: 0, transactions: 0, logs: 0 }
  for (const { first, last } of lookups.partial(EVERY_BLOCK))
    for (const raw of stored.read(first, last)) {
      const rest = cut(raw)
      if (!rest) found.blocks++
      found.transactions += raw.receipts.length - (rest?.receipts.length ?? 0)
      for (const { logs } of raw.receipts) found.logs += logs.length
      for (const { logs } of rest?.receipts ?? []) found.logs -= logs.length
    }
  return found
}
