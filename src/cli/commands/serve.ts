import { command } from '../command.ts'
import { CLUSTER, KEPT, NODE, SCOPED, SERVER } from '../setting-lists.ts'

export const serve = command({
  name: 'serve',
  usage: '[--network T/B/N --rpc URL] [options]',
  summary: 'Runs the server. Indexes and follows the given networks; without any network, serves a demo chain.',
  settings: ['role', ...SERVER, ...NODE.filter(name => name !== 'to'), ...SCOPED, ...CLUSTER, ...KEPT, 'indexers'],
  options: {},
  arity: [0, 0],
  run: ({ services, config, log, shutdown }) => services.serve(config, { log, shutdown }),
})
