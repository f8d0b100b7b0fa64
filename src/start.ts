import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { isRecent, runByOwnNode, stopWithStarter } from './lib/own-node.ts'

if (isRecent(process.versions.node)) {
  stopWithStarter()
  createRequire(import.meta.url)('./load.cjs')
} else void runByOwnNode(fileURLToPath(import.meta.url))
