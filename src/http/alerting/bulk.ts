import { messageOf, refuse } from '../../lib/errors.ts'
import { createPauses } from '../../lib/scheduling/event-loop.ts'
import { type Limits, overLimit } from '../../limits/index.ts'
import { MAX_FAULTS, within } from '../../rules/place.ts'
import { checkRoom } from '../../rules/room.ts'
import { checkRule, type Fault } from '../../rules/schema.ts'
import { type NewRule, networkOf } from '../../rules/store.ts'
import { readBody } from '../body.ts'
import { actorOf, type Handler } from '../context.ts'
import { invalid } from '../errors.ts'
import { json } from '../json.ts'
import { AROUND } from './request.ts'
import type { Alerting } from './service.ts'

/** `POST /alerting/rules/bulk/`: creates the rules of all lines, or none. */
export const createRules =
  ({ rules, service }: Alerting, limits: Limits): Handler =>
  async c => {
    const { id } = c.get('account')
    const { refusedHost, abis } = service
    const body = await readBody(c, limits)
    const pause = createPauses()
    const starts = new Map<string, number | null>()
    const list: NewRule[] = []
    const faults: Fault[] = []
    let index = 0
    for (const line of linesOf(body)) {
      await pause()
      if (index === limits.rulesAtOnce) throw overLimit('rulesAtOnce', limits)
      if (line.length > AROUND * limits.rule) throw overLimit('rule', limits, `[${index}]`)
      const checked = checkRule(parsed(line, index), { refusedHost, abis, limits })
      faults.push(...checked.faults.map(fault => within(index, fault)))
      if (faults.length >= MAX_FAULTS) break
      index++
      if (!checked.rule) continue
      const { startBlock, ...input } = checked.rule
      const network = networkOf(input)
      if (startBlock === undefined && !starts.has(network)) starts.set(network, await service.startBlockOf(network))
      list.push({ input, startBlock: startBlock ?? starts.get(network) ?? null })
    }
    if (faults.length > 0) return invalid(faults.slice(0, MAX_FAULTS))
    if (index === 0) throw refuse('parsing_exception', 'The body has no rule: send one as JSON in each line.')
    const made = rules.together(() => {
      checkRoom(rules, id, { after: list.map(({ input }) => input) }, limits)
      return rules.createAll(id, list, actorOf(c))
    })
    await rules.synced()
    return json({ rules: made.map(({ id, input: { name } }) => ({ id, name })) }, 201)
  }

const NEWLINE = 10

/** Lines that are not empty. */
function* linesOf(body: Uint8Array = new Uint8Array()): Generator<Uint8Array, void> {
  for (let at = 0; at < body.length; ) {
    const found = body.indexOf(NEWLINE, at)
    const end = found < 0 ? body.length : found
    const line = body.subarray(at, end)
    if (!isBlank(line)) yield line
    at = end + 1
  }
}

const isBlank = (line: Uint8Array): boolean => line.every(byte => byte === 32 || byte === 9 || byte === 13)

const parsed = (line: Uint8Array, index: number): unknown => {
  try {
    // A decoder takes no memory that threads share.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(line))) as unknown
  } catch (error) {
    throw refuse(
      'parsing_exception',
      `[${index}] is not JSON: ${messageOf(error)}. Each line has one whole rule; jq -c '.[]' makes lines of a list.`,
      error,
    )
  }
}
