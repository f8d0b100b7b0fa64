import { command, NODE, SERVER } from '../command.ts'

export const serve = command({
  name: 'serve',
  usage: '[--network T/B/N --rpc URL] [options]',
  summary:
    'Runs the server, and indexes and follows the networks that it is given; with none at all it serves a demo chain.',
  settings: [...SERVER, ...NODE.filter(name => name !== 'to'), 'indexers'],
  options: {},
  arity: [0, 0],
  run: ({ services, config, log, shutdown }) => services.serve(config, { log, shutdown }),
})
