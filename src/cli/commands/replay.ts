import { command, misused, networkOf } from '../command.ts'
import { showDevNews } from '../show-dev.ts'

export const replay = command({
  name: 'replay',
  usage: 'HASH [--rpc URL]',
  summary:
    'Prints the calls inside of one transaction with their arguments, its events, and why and where it failed. Asks a node (http://127.0.0.1:8545), and decodes by the ABIs of the Foundry or Hardhat project in this folder and those of abi add.',
  settings: ['network', 'rpc', 'rpcRate', 'rpcDaily', 'rpcMonth', 'rpcCosts', 'requestTimeout', 'limit'],
  defaults: { network: 'ethereum/dev/local', rpc: ['http://127.0.0.1:8545'] },
  options: {},
  arity: [1, 1],
  run: ({ services, config, args: [hash = ''], cwd, log, shutdown, streams, print }) => {
    if (!/^0x[\da-f]{64}$/i.test(hash))
      throw misused(
        `Which transaction? Name it by its hash, 0x and 64 hex digits, not ${JSON.stringify(hash.slice(0, 100))}.`,
      )
    const style = { colours: streams.stdout.isTTY === true }
    return services.replay(config, networkOf(config), hash.toLowerCase(), {
      folder: cwd,
      tell: news => print(config.json ? JSON.stringify(news) : showDevNews(news, style)),
      log,
      shutdown,
    })
  },
})
