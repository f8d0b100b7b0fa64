import { command } from '../command.ts'
import { showStatus } from '../show.ts'

export const status = command({
  name: 'status',
  usage: '',
  summary: 'Shows for each network the stored blocks, the head, and the state of its nodes.',
  settings: [],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, print }) => {
    const status = await services.status(config, { log, shutdown })
    print(config.json ? JSON.stringify(status) : showStatus(status))
  },
})
