import { count, moment, text, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import { command, misused } from '../../command.ts'
import { count as counted } from '../../show.ts'

export const redeliver = command({
  name: 'rules redeliver',
  usage: '[DELIVERY-ID…] [--rule ID] [--alert ID] [--dead] [--after TIME] [--before TIME]',
  summary: 'Sends deliveries again: those that meet all given conditions, of which at least one is required.',
  settings: [],
  options: {
    rule: setting(count(1), undefined, 'Deliveries of the rule with that number.'),
    alert: setting(text('the id of an alert', 'ID'), undefined, 'Deliveries of that alert.'),
    dead: setting(toggle, 'false', 'Dead deliveries.'),
    after: setting(moment, undefined, 'Deliveries created at that time or later, such as 2024-05-17T12:00:00Z.'),
    before: setting(moment, undefined, 'Deliveries created at that time or earlier.'),
  },
  audited: true,
  arity: [0, Number.POSITIVE_INFINITY],
  run: async ({ services, config, log, shutdown, args, options: { rule, alert, dead, after, before }, print }) => {
    const ids = args.map(idOf)
    if (ids.length === 0 && !dead && [rule, alert, after, before].every(it => it === undefined))
      throw misused('Which deliveries? Name them, or add --rule, --alert, --dead, --after or --before.')
    if (after !== undefined && before !== undefined && before < after)
      throw misused('--before must not be before --after.')
    const rules = services.openRules(config, { log, shutdown })
    const filter = { rule, alert, dead, from: after, to: before }
    const left: number[] = []
    let redelivered = ids.length === 0 ? rules.redeliver(filter) : 0
    for (const delivery of new Set(ids)) {
      const count = rules.redeliver({ ...filter, delivery })
      if (count === 0) left.push(delivery)
      redelivered += count
    }
    if (config.json) print(JSON.stringify({ redelivered, left }))
    else {
      for (const id of left) print(`Delivery ${id} is not sent again: ${UNFIT}.`)
      if (ids.length === 0 && redelivered === 0) print(`Nothing is sent again: ${UNFIT}.`)
      if (redelivered > 0)
        print(
          `${counted(redelivered, 'delivery', 'deliveries')} will be sent again, ${rules.serving() ? 'by the running server' : 'when chainsieve serve runs the next time'}.`,
        )
    }
    return left.length === 0 ? 0 : 1
  },
})

const UNFIT = 'there is none that fits, or it was cancelled, is a test, or a later message took its place'

const idOf = (text: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw misused(
      `A delivery is named by its number, which chainsieve rules deliveries shows, not ${JSON.stringify(text)}.`,
    )
  return Number(text)
}
