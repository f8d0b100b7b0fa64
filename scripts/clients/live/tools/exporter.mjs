/** Metrics that the exporter makes of what it asks. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ADMIN_TOKEN, BASE, CLIENT_FOLDER, report, withToken } from './report.mjs'

const freePort = () =>
  new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
const port = await freePort()
const child = spawn(join(CLIENT_FOLDER, 'usr/bin/prometheus-elasticsearch-exporter'), [
  ...[`--es.uri=${withToken(BASE, ADMIN_TOKEN)}`, `--web.listen-address=127.0.0.1:${port}`, '--es.all', '--es.indices'],
  ...['--es.shards', '--es.aliases', '--es.indices_mappings', '--es.indices_settings', '--es.cluster_settings'],
])
process.on('exit', () => child.kill())
const scrape = async () => {
  for (let tries = 0; ; tries++)
    try {
      return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    } catch (error) {
      if (tries === 50) throw error
      await sleep(100)
    }
}
const text = await scrape()
/** The values of a metric whose labels have some text. */
const valuesOf = (name, label = '') =>
  text
    .split('\n')
    .filter(line => line.startsWith(name) && '{ '.includes(line[name.length]) && line.includes(label))
    .map(line => Number(line.slice(line.lastIndexOf(' ') + 1)))

await report({
  'health is read': () => valuesOf('elasticsearch_cluster_health_up'),
  'figures of the node are read': () => valuesOf('elasticsearch_node_stats_up'),
  'memory of the process': () => valuesOf('elasticsearch_process_mem_virtual_size_bytes')[0] > 10_000_000,
  'free disk': () => valuesOf('elasticsearch_filesystem_data_available_bytes')[0] > 1_000_000,
  'documents of tx': () => valuesOf('elasticsearch_indices_docs_primary', 'index="ethereum-demo-local-tx"'),
  'documents of the node': () => valuesOf('elasticsearch_indices_docs')[0] > 6_951,
  'statistics of indices are read': () => valuesOf('elasticsearch_index_stats_up'),
  'mappings are read': () => valuesOf('elasticsearch_indices_mappings_stats_up'),
  'settings are read': () => valuesOf('elasticsearch_indices_settings_stats_up'),
  'no index is read only': () => valuesOf('elasticsearch_indices_settings_stats_read_only_indices'),
})
