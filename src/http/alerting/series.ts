import { refuse } from '../../lib/errors.ts'
import { partsBetween } from '../../lib/intervals.ts'
import type { Limits } from '../../limits/index.ts'
import type { StoredRule } from '../../rules/rule.ts'
import { createNameCounter } from '../../search/names.ts'
import type { Handler } from '../context.ts'
import { json } from '../json.ts'
import { integerOf, timeOf } from '../parameters.ts'
import type { Gate } from './gate.ts'
import { absent, readParameters } from './request.ts'
import type { Alerting } from './service.ts'

const DAY_MS = 86_400_000
/** Half hours of a day, which may begin in the middle of one. */
const BUCKETS = 49
const MOST_BUCKETS = 500

/** `GET /alerting/series/`: how many alerts rules had, by time; of all rules of the account, or of some. */
export const alertSeries =
  ({ rules, service }: Alerting, limits: Limits, gate: Gate): Handler =>
  async c => {
    const given = readParameters(c, ['from', 'to', 'buckets', 'rules'])
    const to = timeOf('to', given.to) ?? Date.now()
    const from = timeOf('from', given.from) ?? to - DAY_MS
    if (to < from) throw refuse('illegal_argument_exception', 'The URL parameter [to] must not be earlier than [from].')
    const buckets = integerOf('buckets', given.buckets, { max: MOST_BUCKETS }) ?? BUCKETS
    const { id } = c.get('account')
    const ruleOf = (number: number): StoredRule => {
      const rule = rules.get(id, number)
      if (!rule) throw absent(String(number))
      return rule
    }
    const asked = given.rules === undefined ? undefined : [...new Set(given.rules.split(','))]
    if (asked) createNameCounter(limits)(asked)
    const wanted = asked?.map(text => ruleOf(integerOf('rules', text)!)) ?? rules.list(id)
    return json(await gate(id, () => service.series(wanted, partsBetween(from, to, buckets))))
  }
