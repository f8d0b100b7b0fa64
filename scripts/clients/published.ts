/**
 * Searches as the documentation of the closed service has them and as public scripts still send
 * them, in both generations of its mapping, with values of the demo chain.
 */
export interface Published {
  name: string
  /** Below the network's `es`. */
  path: string
  body: object
}

const TOKEN = '0x252bFe6BA05B239912fE0F8f514B3564F40A7A96'
const WRAPPED = '0xa19dd5DE999CC9976E5e6fD390b31BB6E75d0890'
const SENDER = '0x0D3eB21b6B21833A4939Cfff4810E9AE0758e12C'
const OTHER_SENDER = '0x4fb070eF70961D204961c69B954B99808b9694BC'
const BLOCK = '0x9c3dea365278f23074b897ee3860fd1f6fefe7c44f198fe3e9531fa6d70d705c'
const TRANSACTION = '0xc1646c053b974c54f9bc7f1023128fc41b15db000456d507939c0a10fcbfe7de'
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const GWEI = 1_000_000_000
const [FIRST, MIDDLE, LAST] = [1735689600, 1735692000, 1735694844]

const lower = (text: string) => text.toLowerCase()
const term = (field: string, value: unknown) => ({ term: { [field]: value } })
const filtered = (...filter: object[]) => ({ bool: { filter } })
const required = (...must: object[]) => ({ bool: { must } })
const within = (bounds: object) => ({ range: { timestamp: bounds } })
const avg = (field: string) => ({ avg: { field } })
const byTime = (interval: string, format: string, aggs: object) => ({
  date_histogram: { field: 'timestamp', interval, format },
  aggs,
})
const argument = (name: string, hex: string) => ({
  nested: { path: 'args', query: filtered(term('args.name', name), term('args.value.hex', hex)) },
})
const gasPrices = {
  gasprice_stats: { extended_stats: { field: 'gasPrice.num' } },
  gas_price_histogram: { histogram: { field: 'gasPrice.num', interval: GWEI, min_doc_count: 1 } },
}
const emitting = (type: string, query: object) => ({ bool: { filter: { has_child: { type, query } } } })
const newest = { 'blockNumber.num': 'desc' }
const percentiles = (percents: number[]) => ({ percentiles: { field: 'gasPrice.num', percents } })

const DOCUMENTED: Record<string, [path: string, body: object]> = {
  'a block by its number': [
    'block/search/',
    { query: { bool: { filter: term('number.num', 199) } }, _source: ['number.num'] },
  ],
  'empty blocks': ['block/search/', { query: { bool: { must_not: { exists: { field: 'transactions' } } } } }],
  'the newest blocks': ['block/search/', { sort: { 'number.num': 'desc' }, size: 5 }],
  'transactions of a block': ['tx/search/', { query: filtered(term('blockHash', BLOCK)), size: 200 }],
  'transactions of a range of blocks': [
    'tx/search/',
    { query: filtered({ range: { 'blockNumber.num': { gte: 100, lte: 120 } } }), size: 200 },
  ],
  'transactions from or to an address': [
    'tx/search/',
    { query: { bool: { should: [term('from', lower(SENDER)), term('to', lower(SENDER))] } } },
  ],
  'a transaction by its hash': ['tx/search/', { query: filtered(term('_id', TRANSACTION)) }],
  'logs of a transaction': ['log/search/', { query: filtered(term('transactionHash', TRANSACTION)) }],
  'logs of a contract': ['log/search/', { query: filtered(term('address', lower(TOKEN))), size: 100 }],
  'logs by their signature': ['log/search/', { query: filtered(term('signature', TRANSFER)) }],
  'logs of a sender': [
    'log/_search',
    { query: filtered({ has_parent: { type: 'tx', query: filtered(term('from', lower(SENDER))) } }), size: 200 },
  ],
  'events by a word of their name': ['event/search/', { query: filtered(term('event', 'transfer')) }],
  'events by a name that is no word': ['event/search/', { query: filtered(term('event', 'Transfer')) }],
  'events of a contract': ['event/search/', { query: filtered(term('address.raw', TOKEN)) }],
  'events of a contract, in one letter case': [
    'event/search/',
    { query: { bool: { filter: term('address', lower(TOKEN)) } } },
  ],
  'events of a contract and a sender': [
    'event/search/',
    { query: filtered(term('address.raw', TOKEN), argument('from', SENDER)), size: 200 },
  ],
  'events of a contract and a sender, in one letter case': [
    'event/_search',
    { query: filtered(term('address', lower(TOKEN)), argument('from', lower(SENDER))), size: 200 },
  ],
  'events by the older name of their keyword': [
    'event/_search',
    {
      query: filtered(term('event.keyword', 'Transfer'), term('address', lower(TOKEN))),
      sort: { 'blockNumber.num': { order: 'desc' } },
      size: 5,
    },
  ],
  'the newest events, through a client': [
    'event/_search',
    {
      query: filtered(term('address.raw', TOKEN), term('event.raw', 'Transfer')),
      sort: { timestamp: 'desc' },
      size: 5,
    },
  ],
  'a thing by its hash': [
    'block,tx/search/',
    { query: { bool: { should: [{ ids: { values: [BLOCK] } }, term('from', BLOCK), term('to', BLOCK)] } } },
  ],
  'a thing by its address, newest first': [
    'tx,block/_search',
    {
      query: {
        bool: {
          should: [{ ids: { values: [lower(SENDER)] } }, term('from', lower(SENDER)), term('to', lower(SENDER))],
        },
      },
      sort: { timestamp: 'desc' },
    },
  ],
  'the newest block and ten transactions': [
    'block/_search',
    {
      query: {
        bool: {
          should: [
            { match_all: {} },
            { has_child: { type: 'tx', query: { match_all: {} }, inner_hits: { size: 10 } } },
          ],
        },
      },
      sort: { 'number.num': 'desc' },
      size: 1,
    },
  ],
}

const SCRIPTED: Record<string, [path: string, body: object]> = {
  'gas prices of an hour': [
    'tx/_search',
    { query: { bool: { filter: within({ gt: `${MIDDLE}||/h-1h` }) } }, size: 0, aggs: gasPrices },
  ],
  'gas prices of the last hour': [
    'tx/_search',
    { query: { bool: { filter: within({ gt: 'now/h-1h' }) } }, size: 0, aggs: gasPrices },
  ],
  'topics and their contracts': [
    'log/_search',
    {
      query: { match_all: {} },
      aggs: {
        topic: {
          terms: { field: 'topics', size: 10 },
          aggs: { contract: { terms: { field: 'address.raw', size: 10 } } },
        },
      },
      size: 0,
    },
  ],
  'signatures and their contracts, by a text': [
    'log/_search',
    {
      query: { match_all: {} },
      aggs: {
        topic: {
          terms: { field: 'signature', size: 10 },
          aggs: { contract: { terms: { field: 'address', size: 10 } } },
        },
      },
      size: 0,
    },
  ],
  'gas prices of transactions with a log': [
    'tx/_search',
    { query: emitting('log', { match: { signature: TRANSFER } }), aggs: gasPrices, size: 0 },
  ],
  'senders of transactions with a log': [
    'tx/_search',
    {
      query: emitting('log', { match: { signature: TRANSFER } }),
      aggs: {
        caller: {
          terms: { field: 'from.raw', size: 10 },
          aggs: { gasprice_stats: { stats: { field: 'gasPrice.num' } } },
        },
      },
      size: 0,
    },
  ],
  'the last transactions to an address': [
    'tx/_search',
    { query: { match: { to: lower(WRAPPED) } }, sort: newest, size: 5 },
  ],
  'the last blocks with an address': [
    'block/_search',
    {
      query: emitting('tx', { multi_match: { query: SENDER, fields: ['to', 'from'] } }),
      sort: { 'number.num': 'desc' },
    },
  ],
  'the last blocks with a log': [
    'block/_search',
    {
      query: emitting('tx', { has_child: { type: 'log', query: { match: { signature: TRANSFER } } } }),
      sort: { 'number.num': 'desc' },
    },
  ],
  'gas used per half hour': [
    'block,tx/_search',
    {
      aggs: {
        half_hour: {
          aggs: { used_gas: avg('gasUsed.num') },
          date_histogram: { field: 'timestamp', interval: '30m', min_doc_count: 0 },
        },
      },
      query: filtered(within({ gte: `${LAST}||/d-7d`, lte: `${LAST}||/d+1d` })),
      size: 0,
    },
  ],
  'gas used in the last week': [
    'tx/_search',
    {
      aggs: {
        half_hour: {
          aggs: { used_gas: avg('gasUsed.num') },
          date_histogram: { field: 'timestamp', interval: '30m', min_doc_count: 0 },
        },
      },
      query: filtered(within({ gte: 'now/d-7d', lte: 'now/d-1d' })),
      size: 0,
    },
  ],
  'donors and receivers': [
    'tx/search/',
    {
      from: 0,
      size: 10_000,
      query: required(
        { bool: { should: [SENDER, OTHER_SENDER].map(from => ({ match: { from } })) } },
        { bool: { should: [TOKEN, WRAPPED].map(to => ({ match: { to } })) } },
      ),
    },
  ],
  'gas prices per minute, with percentiles': [
    'tx/_search',
    {
      _source: ['timestamp', 'gasPrice.num'],
      query: required(within({ gte: String(FIRST), lt: String(MIDDLE) })),
      aggs: {
        hour_bucket: byTime('1m', 'yyyy-MM-dd hh:mm:ss', {
          avgGasDay: avg('gasPrice.num'),
          percentilesDay: percentiles([35, 60, 90, 100]),
        }),
      },
      size: 0,
    },
  ],
  'gas prices per hour': [
    'tx/_search',
    {
      _source: ['timestamp', 'gasPrice.num'],
      query: required(within({ gte: FIRST, lte: LAST })),
      aggs: { hour_bucket: byTime('1H', 'yyyy-MM-dd hh:mm:ss', { avgGasHour: avg('gasPrice.num') }) },
    },
  ],
  'gas prices per hour of a week': [
    'tx/_search',
    {
      _source: ['timestamp', 'gasPrice.num'],
      query: required(within({ gte: 'now-7d' })),
      aggs: { hour_bucket: byTime('1h', 'yyyy-MM-dd hh:mm:ss', { avgGasHour: avg('gasPrice.num') }) },
    },
  ],
  'gas prices per minute': [
    'tx/_search',
    {
      _source: ['timestamp', 'gasPrice.num'],
      query: required(within({ gte: FIRST, lte: MIDDLE })),
      aggs: { minute_bucket: byTime('1m', 'yyyy-MM-dd hh:mm', { avgGasMin: avg('gasPrice.num') }) },
    },
  ],
  'gas prices per minute, by 24 hours': [
    'tx/_search',
    {
      _source: ['timestamp', 'gasPrice.num'],
      query: required(within({ gte: FIRST, lt: LAST })),
      aggs: {
        minute_bucket: byTime('1m', 'yyyy-MM-dd HH:mm', {
          percentilesMin: percentiles([35, 60, 90, 100]),
          avgGasMin: avg('gasPrice.num'),
        }),
      },
      size: 0,
    },
  ],
  'transactions of a span of time': [
    'tx/_search',
    { size: 1000, query: within({ gte: FIRST, lte: FIRST + 600 }), sort: { timestamp: 'asc' } },
  ],
  'everything of an entity': ['block/_search', { size: 1000, query: { match_all: {} } }],
  'transactions of a block, by match': ['tx/_search', { size: 5000, query: { match: { 'blockNumber.num': 199 } } }],
  'arguments of an event of a contract': [
    'event/search/',
    {
      size: 1,
      query: required(term('address.raw', TOKEN), term('event.raw', 'Transfer')),
      _source: 'args',
      sort: [newest, { 'logIndex.num': 'desc' }],
    },
  ],
  'arguments of many events of a contract': [
    'event/search/',
    {
      size: 1000,
      query: required(term('address.raw', TOKEN), term('event.raw', 'Approval')),
      _source: 'args',
    },
  ],
  'the time of the newest block': [
    'block/search/',
    { query: { match_all: {} }, size: 1, sort: [{ 'number.num': { order: 'desc' } }], _source: 'timestamp' },
  ],
  'all events of a contract': ['event/search/', { size: 10_000, query: term('address.raw', WRAPPED) }],
  'traces of transactions': [
    'trace/search/',
    { query: { bool: { filter: { terms: { transactionHash: [TRANSACTION] } } } } },
  ],
  'a block by its number as text': [
    'block/search',
    { query: { bool: { filter: term('number.num', '199') } }, _source: ['number.num'] },
  ],
  'contracts that were created, by a query string': [
    'tx/_search',
    { query: { query_string: { query: '_exists_:contractAddress AND !(_exists_:to)' } }, size: 100 },
  ],
  'transactions with input, by a query string': [
    'tx/_search',
    { query: { query_string: { query: 'input:0xa9059cbb*' } }, size: 0 },
  ],
  'transactions to several addresses': [
    'tx/_search',
    { query: { terms: { to: [lower(TOKEN), lower(WRAPPED)] } }, size: 10_000 },
  ],
  'a dashboard panel with empty parts': [
    'tx/_search',
    {
      aggs: {
        2: {
          date_histogram: {
            field: 'timestamp',
            calendar_interval: '1m',
            time_zone: 'America/Chicago',
            min_doc_count: 1,
          },
          aggs: { 1: avg('gasPrice.num') },
        },
      },
      size: 0,
      fields: [{ field: 'timestamp', format: 'date_time' }],
      script_fields: {},
      stored_fields: ['*'],
      _source: { excludes: [] },
      query: {
        bool: {
          must: [],
          filter: [
            within({
              format: 'strict_date_optional_time',
              gte: '2025-01-01T00:00:00.000Z',
              lte: '2025-01-01T01:00:00.526Z',
            }),
          ],
          should: [],
          must_not: [],
        },
      },
    },
  ],
  'a panel of Kibana, with empty runtime fields': [
    'tx/_search',
    { aggs: { 1: avg('gasPrice.num') }, size: 0, runtime_mappings: {}, query: { bool: { must: [] } } },
  ],
  'transactions of a range of time': [
    'block/_search',
    {
      size: 0,
      aggs: {
        txByRange: {
          range: { field: 'gasUsed.num', ranges: [{ from: 1, to: 500_000 }, { from: 500_000 }] },
          aggs: { time: { stats: { field: 'timestamp' } } },
        },
      },
    },
  ],
  'all terms by a size of zero': [
    'block/_search',
    { size: 0, aggs: { blocks: { terms: { field: 'miner.raw', size: 0 } } } },
  ],
  'amounts by contract, largest first': [
    'tx/_search',
    {
      size: 0,
      aggs: {
        receivers: {
          terms: { field: 'to.raw', size: 5, order: { sum: 'desc' } },
          aggs: { sum: { sum: { field: 'value.coin' } } },
        },
      },
    },
  ],
  'senders per day': [
    'tx/_search',
    {
      size: 0,
      aggs: {
        days: {
          date_histogram: { field: 'timestamp', calendar_interval: 'day', format: 'yyyy-MM-dd' },
          aggs: { senders: { cardinality: { field: 'from.raw' } } },
        },
      },
    },
  ],
  'arguments of transfers, added up': [
    'event/_search',
    {
      size: 0,
      query: filtered(term('address.raw', TOKEN), term('event', 'transfer')),
      aggs: {
        args: {
          nested: { path: 'args' },
          aggs: {
            amounts: {
              filter: { exists: { field: 'args.value.num' } },
              aggs: {
                total: { sum: { field: 'args.value.scaled' } },
                senders: { terms: { field: 'args.name', size: 5 } },
              },
            },
          },
        },
      },
    },
  ],
  'large amounts, by a range within arguments': [
    'event/_search',
    {
      size: 20,
      query: filtered(term('event.raw', 'Transfer'), {
        nested: { path: 'args', query: { range: { 'args.value.scaled': { gte: 100 } } } },
      }),
      sort: [newest, { 'logIndex.num': 'asc' }],
      _source: { includes: ['event', 'args.value.scaled'] },
    },
  ],
}

export const PUBLISHED: readonly Published[] = Object.entries({ ...DOCUMENTED, ...SCRIPTED }).map(
  ([name, [path, body]]) => ({ name, path: `/${path}`, body }),
)
