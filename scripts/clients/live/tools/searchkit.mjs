/** Requests of InstantSearch, which Searchkit turns into searches. */
import { BASE, report, require, TOKEN } from './report.mjs'

const { default: Client } = require('@searchkit/api')
const client = Client({
  connection: { host: BASE, auth: { username: 'any', password: TOKEN } },
  search_settings: {
    search_attributes: ['event', 'str'],
    result_attributes: ['event', 'str', 'blockNumber'],
    highlight_attributes: ['event'],
    facet_attributes: [
      { attribute: 'event', field: 'event.raw', type: 'string' },
      { attribute: 'block', field: 'blockNumber.num', type: 'numeric' },
    ],
  },
})
const ask = async params => (await client.handleRequest([{ indexName: 'event', params }])).results[0]

await report({
  'a word': async () => (await ask({ query: 'transfer' })).nbHits,
  'a page of it': async () => (await ask({ query: 'transfer', hitsPerPage: 5, page: 2 })).hits.length,
  'its highlight': async () => {
    const { matchLevel, matchedWords } = (await ask({ query: 'transfer' })).hits[0]._highlightResult.event
    return [matchLevel, matchedWords]
  },
  'facets of everything': async () =>
    Object.entries((await ask({ query: '', facets: ['event'] })).facets.event).slice(0, 2),
  'a chosen facet': async () => (await ask({ query: '', facetFilters: [['event:Sync']] })).nbHits,
  'a range': async () => (await ask({ query: '', numericFilters: ['block<=100'] })).nbHits,
})
