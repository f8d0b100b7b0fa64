import type { JsonObject } from '../../api/json.ts'

/** Rules to try on the demo chain. They begin with its first block, so that there are alerts at once. */
export const DEMO = 'ethereum/demo/local'

/** Where `chainsieve receive` listens. */
export const DEMO_RECEIVER = 'http://127.0.0.1:8700/alerts'

const own = { technology: 'ethereum', blockchain: 'demo', network: 'local', maxConfirmationCount: 3, startBlock: 0 }
const alerts = [{ type: 'Webhook (POST)', parameters: { url: DEMO_RECEIVER } }]

export const OFFERS: readonly { name: string; what: string; rule: JsonObject }[] = [
  {
    name: 'alice',
    what: 'Alice sends two ether or more',
    rule: {
      name: 'Alice spends',
      ...own,
      config: {
        targetType: 'Transaction',
        targetMap: [
          { name: 'from', operator: 'Equals', value: '0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C' },
          { name: 'value.coin', operator: 'Greater or Equal', value: '2' },
        ],
        alerts,
      },
    },
  },
  {
    name: 'dollars',
    what: 'More than 2,500 demo dollars move',
    rule: {
      name: 'Large transfers of the demo dollar',
      ...own,
      config: {
        targetType: 'Event',
        targetMap: [
          { name: 'event', operator: 'Equals', value: 'Transfer' },
          { name: 'address', operator: 'Equals', value: '0x252bFe6BA05B239912fE0F8f514b3564F40A7A96' },
          {
            name: 'args',
            operator: 'Inspect',
            operatorParameters: [{ name: 'value', operator: 'Greater', value: '2500', useScaledValue: true }],
          },
        ],
        alerts,
      },
    },
  },
]
