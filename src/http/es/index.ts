import { analyze } from './analyze.ts'
import { cat, catAliases, catCount, catHealth, catIndices } from './cat/cat.ts'
import { clusterHealth, clusterSettings, clusterStats, nodes, searchShards } from './cluster.ts'
import { count } from './count.ts'
import type { Endpoint } from './endpoint.ts'
import { explain } from './explain.ts'
import { fieldCaps } from './field-caps.ts'
import { get, source } from './get.ts'
import { alias, indices, refresh, resolve, settings } from './indices.ts'
import { about } from './info.ts'
import { fieldMapping, mapping } from './mapping.ts'
import { mget } from './mget.ts'
import { msearch } from './msearch.ts'
import { closeAllPointsInTime, closePit, closePointsInTime, listPointsInTime, openPit, openPointInTime } from './pit.ts'
import { clearScroll, scroll } from './scroll.ts'
import { search } from './search.ts'
import { similarCalls, similarContracts, similarEvents } from './similar.ts'
import { stats } from './stats.ts'
import { suggest } from './suggest.ts'
import { msearchTemplate, renderTemplate, searchTemplate } from './template.ts'
import { validate } from './validate.ts'

/** Every endpoint of `/{technology}/{blockchain}/{network}/es`. */
export const ENDPOINTS: readonly Endpoint[] = [
  about,
  search,
  scroll,
  clearScroll,
  openPit,
  closePit,
  openPointInTime,
  listPointsInTime,
  closePointsInTime,
  closeAllPointsInTime,
  msearch,
  searchTemplate,
  msearchTemplate,
  renderTemplate,
  count,
  get,
  source,
  mget,
  explain,
  validate,
  analyze,
  indices,
  mapping,
  fieldMapping,
  fieldCaps,
  settings,
  alias,
  resolve,
  stats,
  refresh,
  catIndices,
  catCount,
  catHealth,
  catAliases,
  cat,
  clusterHealth,
  clusterStats,
  clusterSettings,
  nodes,
  searchShards,
  suggest,
  similarContracts,
  similarEvents,
  similarCalls,
]
