/** Requests of Search UI through its connector. */
import { BASE, ROOT, report, require, TOKEN } from './report.mjs'

const { default: Connector } = require('@elastic/search-ui-elasticsearch-connector')
const connect = host =>
  new Connector({ host, index: 'event', connectionOptions: { headers: { authorization: `Bearer ${TOKEN}` } } })
// Without the slash at its end, the path of the network would be dropped.
const connector = connect(`${BASE}/`)
const configuration = {
  search_fields: { event: {}, address: {} },
  result_fields: { event: { raw: {} }, str: { snippet: {} } },
  disjunctiveFacets: ['event.raw'],
  facets: { 'event.raw': { type: 'value', size: 5 } },
}
const search = (state, by = connector) =>
  by.onSearch({ current: 1, resultsPerPage: 5, filters: [], sortList: [], ...state }, configuration)

await report({
  'a word': async () => (await search({ searchTerm: 'transfer' })).totalResults,
  'a page of it': async () => (await search({ searchTerm: 'transfer', current: 3 })).results.length,
  facets: async () => (await search({ searchTerm: '' })).facets['event.raw'][0].data.slice(0, 2),
  'a chosen facet': async () =>
    (await search({ searchTerm: '', filters: [{ field: 'event.raw', values: ['Sync'], type: 'any' }] })).totalResults,
  'suggestions while typing': async () => {
    const found = await connector.onAutocomplete(
      { searchTerm: 'trans' },
      { results: { search_fields: { event: {} }, result_fields: { event: { raw: {} } }, resultsPerPage: 3 } },
    )
    return found.autocompletedResults.length
  },
  'a word, at the root of a host': async () => (await search({ searchTerm: 'transfer' }, connect(ROOT))).totalResults,
})
