import { command } from '../command.ts'
import { showStatus } from '../show.ts'

export const status = command({
  name: 'status',
  usage: '',
  summary: 'Tells of each network which blocks are held, how far the head is, and how its nodes are.',
  settings: [],
  options: {},
  arity: [0, 0],
  run: async ({ services, config, log, shutdown, print }) => {
    const status = await services.status(config, { log, shutdown })
    print(config.json ? JSON.stringify(status) : showStatus(status))
  },
})
