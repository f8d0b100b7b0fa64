import { toggle } from '../../config/kinds.ts'
import { setting } from '../../config/settings.ts'
import { command, networkOf } from '../command.ts'
import { NODE, SERVER } from '../setting-lists.ts'
import { showDevNews } from '../show-dev.ts'

export const dev = command({
  name: 'dev',
  usage: '[--rpc URL] [options]',
  summary:
    'Follows a local node (http://127.0.0.1:8545) for contract developers: decodes by the ABIs of the Foundry or Hardhat project in this folder, prints what happens, and serves it. Keeps no data.',
  settings: [...SERVER, ...NODE.filter(name => name !== 'to' && name !== 'order' && name !== 'network')],
  defaults: {
    network: 'ethereum/dev/local',
    rpc: ['http://127.0.0.1:8545'],
    traces: 'all',
    finality: '100000',
    pollInterval: '200ms',
  },
  options: {
    verbose: setting(toggle, 'false', 'Also prints the calls inside of transactions. `-v` for short.'),
  },
  arity: [0, 0],
  run: ({ services, config, options: { verbose }, cwd, log, shutdown, streams, print }) => {
    const style = { colours: streams.stdout.isTTY === true }
    return services.dev(config, networkOf(config), {
      folder: cwd,
      verbose,
      tell: news => print(config.json ? JSON.stringify(news) : showDevNews(news, style)),
      log,
      shutdown,
    })
  },
})
