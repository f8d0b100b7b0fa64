import { createYield, mapInTurns, PIECE_MS } from '../../lib/scheduling/event-loop.ts'
import { missingExtracts } from '../../rules/extracts.ts'
import type { StoredRule } from '../../rules/rule.ts'
import type { Alerting, AlertingService } from './service.ts'

/** A rule as its owner sees it: what was written, and what the server knows of it. */
export const showRule = async (service: AlertingService, rule: StoredRule): Promise<object> =>
  shownWith(service, rule, await service.triggerCounts([rule.id]))

const shownWith = (service: AlertingService, rule: StoredRule, counts: ReadonlyMap<number, number>): object => ({
  id: rule.id,
  ...rule.input,
  enabled: rule.enabled,
  startBlock: rule.startBlock,
  createdAt: new Date(rule.createdAt).toISOString(),
  updatedAt: new Date(rule.updatedAt).toISOString(),
  triggerCount: counts.get(rule.id) ?? 0,
  idle: service.idle(rule) ?? null,
  failing: service.failing(rule).map(({ channel, target, since, at, status, error }) => ({
    ...{ channel, target, since, at, status, error },
  })),
  warnings: rule.unfit === undefined ? [...service.warnings(rule), ...missingExtracts(rule.input)] : [rule.unfit],
})

/** Some of an account's rules, in the order of their ids. */
export const showPage = async (
  { rules, service }: Alerting,
  account: number,
  page: { after: number; size: number },
): Promise<{ rules: object[]; next: string | null }> => {
  const ids = rules.ids(account, page)
  const counts = await service.triggerCounts(ids)
  const shown = await mapInTurns(ids, id => {
    const rule = rules.get(account, id)
    return rule && shownWith(service, rule, counts)
  })
  return {
    rules: shown.filter(rule => rule !== undefined),
    next: ids.length < page.size ? null : String(ids.at(-1)),
  }
}

const turn = createYield()

/** An account's rules as the text of a JSON list, in pieces: there may be many, and nobody waits for them who did not ask. */
export async function* listText({ rules, service }: Alerting, account: number): AsyncGenerator<string, void> {
  const ids = rules.ids(account)
  const counts = await service.triggerCounts(ids)
  let separator = '['
  for (let at = 0; at < ids.length; ) {
    await turn()
    const started = performance.now()
    let piece = ''
    do {
      // One may have been deleted meanwhile.
      const rule = rules.get(account, ids[at++]!)
      if (rule === undefined) continue
      piece += separator + JSON.stringify(shownWith(service, rule, counts))
      separator = ','
    } while (at < ids.length && performance.now() - started < PIECE_MS)
    yield piece
  }
  yield separator === '[' ? '[]' : ']'
}
