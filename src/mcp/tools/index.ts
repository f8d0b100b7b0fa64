import { aggregateTool } from './aggregate.ts'
import { fieldsTool, gasTool, networksTool, statusTool } from './chain.ts'
import { addressTool, getTool } from './documents.ts'
import { ruleCheckTool, ruleCreateTool, ruleListTool, rulePauseTool, ruleSimulateTool } from './rules.ts'
import { queryCheckTool, searchTool } from './search.ts'
import type { AgentTool } from './tool.ts'
import { explainTool } from './transaction.ts'

export const AGENT_TOOLS: readonly AgentTool[] = [
  ...[networksTool, fieldsTool, searchTool, aggregateTool, getTool, explainTool, addressTool],
  ...[queryCheckTool, statusTool, gasTool],
  ...[ruleCheckTool, ruleSimulateTool, ruleListTool, ruleCreateTool, rulePauseTool],
]
