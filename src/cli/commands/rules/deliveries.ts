import { count, text, toggle } from '../../../config/kinds.ts'
import { setting } from '../../../config/settings.ts'
import type { DeliveryInfo } from '../../../delivery/ledger.ts'
import { command } from '../../command.ts'
import { showTable, showText, showTime } from '../../show.ts'

export const listDeliveries = command({
  name: 'rules deliveries',
  usage: '[--dead] [--rule ID] [--alert ID] [--limit N]',
  summary: 'Lists deliveries that were sent, wait or are dead, newest first.',
  settings: [],
  options: {
    dead: setting(toggle, 'false', 'Only dead deliveries.'),
    rule: setting(count(1), undefined, 'Only deliveries of the rule with that number.'),
    alert: setting(text('the id of an alert', 'ID'), undefined, 'Only deliveries of that alert.'),
    limit: setting(count(1, 100_000), '50', 'Maximum number of deliveries to list.'),
  },
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, options: { limit, ...filter }, print }) => {
    const found = services.openRules(config, { log, shutdown }).deliveries({ ...filter, limit: limit + 1 })
    const deliveries = found.slice(0, limit)
    if (config.json) return print(JSON.stringify(deliveries.map(toJson)))
    if (deliveries.length === 0) return print('There are no such deliveries.')
    print(show(deliveries))
    if (found.length > limit) print('There are older deliveries: --limit N lists more.')
  },
})

const show = (deliveries: DeliveryInfo[]): string =>
  showTable(
    ['ID', 'WHEN', 'RULE', 'ALERT', 'TYPE', 'CHANNEL', 'TARGET', 'STATE', 'TRIES', 'NEXT TRY', 'LAST'],
    deliveries.map(it => [
      String(it.id),
      showTime(it.createdAt),
      String(it.rule),
      it.alert,
      it.type,
      it.channel,
      showText(it.target, 80),
      it.state,
      String(it.tries),
      showTime(it.nextAt),
      lastOf(it),
    ]),
  )

const lastOf = ({ lastStatus, lastError }: DeliveryInfo): string =>
  showText(lastError ?? (lastStatus === null ? '-' : String(lastStatus)))

/** Times as elsewhere in answers. */
const toJson = ({ createdAt, deliveredAt, nextAt, ...delivery }: DeliveryInfo) => ({
  ...delivery,
  createdAt: iso(createdAt),
  deliveredAt: iso(deliveredAt),
  nextAt: iso(nextAt),
})

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString())
