// Chinese.
export default {
  "nav.main": "主导航", "nav.skip": "跳到主要内容", "nav.inbox": "收件箱", "nav.runs": "运行", "nav.start": "新建运行", "nav.protocols": "协议", "nav.contracts": "合约", "nav.system": "系统",
  "status.running": "运行中", "status.waiting": "等待中", "status.halted": "已暂停", "status.completed": "已完成", "status.failed": "已失败",
  "kind.question": "问题", "kind.document": "文件", "kind.approval": "审批", "kind.budget": "预算", "kind.work": "人工处理", "kind.incident": "故障",
  "end.completed": "已完成", "end.failed": "已失败", "end.cancelled": "已取消",
  "child.open": "进行中", "child.completed": "已完成", "child.failed": "已失败",
  "order.model": "正在调用模型", "order.effect": "正在执行操作", "order.tool": "正在调用工具", "order.hook": "正在运行钩子", "order.child": "子运行进行中", "order.notify": "正在通知另一个运行",
  "blocked.budget": "预算 {budget} 已用完（上限：{limit}）。", "blocked.refused": "模型的所有回复都被拒绝。", "blocked.missing_ticket": "阶段 {phase} 需要凭证 {ticket}。", "blocked.incident": "{message}",
  "severity.error": "错误", "severity.warning": "警告",
  "origin.folder": "本文件夹", "origin.shipped": "内置",
  "theme.system": "跟随系统", "theme.light": "浅色", "theme.dark": "深色",

  "state.loading": "加载中", "state.again": "重试", "state.unreachable": "服务器没有响应。", "state.unreachable_why": "页面会不断重试。您输入的内容不会丢失。", "state.reconnecting": "正在重新连接。您输入的内容已保存。", "state.back": "服务器已恢复响应。", "state.no_page": "页面不存在", "state.no_page_why": "此地址没有对应的页面。",

  "act.more": "显示更多", "act.copy": "复制", "act.close": "关闭", "act.leave": "返回", "act.save": "保存", "act.reason": "原因",
  "act.halt": "暂停", "act.halt_title": "暂停 {run}？", "act.halt_text": "运行会停住，直到有人恢复它。不会丢失任何内容。",
  "act.resume": "恢复", "act.resume_title": "恢复 {run}？", "act.resume_text": "运行将从停下的地方继续。",
  "act.cancel": "结束运行", "act.cancel_title": "结束 {run}？", "act.cancel_yes": "结束运行", "act.cancel_no": "继续运行", "act.cancel_text": "已结束的运行无法恢复。日志会保留，您仍可将其分叉。",
  "act.fork": "分叉", "act.fork_title": "分叉 {run}", "act.fork_text": "新的运行从此运行的某个版本开始。此运行保持不变。", "act.fork_at": "从版本",

  "inbox.title": "收件箱", "inbox.lead": "等待人工处理的事项，截止时间最近的在前。", "inbox.list": "未处理的等待", "inbox.kinds": "类型", "inbox.all": "全部", "inbox.back": "全部等待", "inbox.empty": "没有需要您处理的事项", "inbox.empty_why": "当运行需要回答、文件或审批时，相应事项会自动出现在这里。", "inbox.empty_kind": "没有此类未处理的等待。",
  "inbox.count": { other: "{n} 项未处理的等待" },

  "wait.due": "截止", "wait.was_due": "已过期", "wait.since": "提出于", "wait.for": "指定给 {who}", "wait.item": "条目：", "wait.answer": "发送回答", "wait.your_answer": "您的回答", "wait.choose": "请选择一项", "wait.approve": "批准", "wait.deny": "拒绝", "wait.yes": "已批准", "wait.no": "已拒绝", "wait.try_again": "重试", "wait.end_run": "结束运行", "wait.note": "备注", "wait.grant": "追加并继续", "wait.more_of": "为预算 {name} 追加的数量",
  "wait.work": "此步骤需要人工处理：请代替模型提交回复，或提交文档补丁。", "wait.hand_in": "提交回复或补丁", "wait.upload": "上传文件", "wait.drop": "将文件拖到这里，或选择文件", "wait.choose_file": "选择文件", "wait.accepts": "接受：{kinds}", "wait.any_file": "任意文件", "wait.suggested": "文件将保存到", "wait.no_file": "请先选择文件。",
  "wait.votes": "已有 {n} 人批准，共需 {need} 人。", "wait.not_yours": "这需要由其他人决定。", "wait.note_on_denial": "拒绝时必填", "wait.note_always": "必填", "wait.subject": "您批准的内容", "wait.changed": "自首次请求以来已更改：", "wait.omitted": "内容太大，无法在此显示。请打开运行的文档。", "wait.digest": "签名摘要：", "wait.subject_changed": "内容已更改。请先查看新内容再决定。",
  "wait.taken": "已接受，运行将继续。", "wait.over": "您的回答提交得太晚。", "wait.gone": "此等待已关闭。", "wait.first_answered": "{who} 先回答了", "wait.first_approved": "{who} 先批准了", "wait.first_denied": "{who} 先拒绝了", "wait.yours_kept": "您写的内容仍在这里", "wait.forget": "丢弃", "wait.see_run": "查看运行",

  "form.optional": "可选", "form.yes": "是", "form.no": "否", "form.unsaid": "未填写", "form.add": "添加一项", "form.item": "第 {n} 项", "form.remove_item": "删除第 {n} 项", "form.json": "JSON。", "form.text_or_json": "纯文本或 JSON。", "form.needed": "此项必填。", "form.choose": "请选择一项。", "form.whole": "请输入整数。", "form.number": "请输入数字。", "form.least": "至少 {least}。", "form.most": "至多 {most}。", "form.between": "从 {least} 到 {most}。", "form.no_json": "这不是有效的 JSON。", "form.expected": "应为 {expected}，实际为 {found}。", "form.unsent": "尚未发送。", "form.unsent_why": "服务器没有响应。您的内容已保存。服务器恢复后请再次发送；内容只会被接受一次。",
  "form.short": { other: "至少 {n} 个字符。" }, "form.items": { other: "至少需要 {n} 项。" },

  "runs.title": "运行", "runs.lead": "所有运行，最新的在前。", "runs.search": "搜索已加载的运行", "runs.by_status": "状态", "runs.all": "全部", "runs.empty": "还没有运行", "runs.empty_why": "从协议启动一个运行，例如访谈、交付或基于证据的回答。", "runs.none_fit": "没有符合的运行", "runs.none_fit_why": "没有运行符合此状态和搜索文本。", "runs.none_fit_yet": "已加载的运行中没有符合的。请显示更多，或清除筛选。", "runs.clear": "清除筛选",

  "run.tabs": "运行的视图", "run.now": "当前", "run.timeline": "时间线", "run.document": "文档", "run.prompt": "提示词", "run.proof": "验证", "run.talk": "问与答", "run.writing": "模型正在撰写", "run.graph": "工作流与当前阶段", "run.about": "关于此运行", "run.budgets": "预算", "run.halted_by": "由 {by} 暂停。", "run.blocked": "运行受阻。", "run.not_before": "不早于 {at}", "run.gates": "关闭的关卡", "run.gate_to": "到 {to} 的转换已关闭：", "run.evidence": "依据", "run.made": "输出位于", "run.begun": "创建", "run.changed": "更新", "run.version": "版本", "run.alarm": "自动继续", "run.model": "模型", "run.model_own": "由协议指定", "run.calls": "模型调用", "run.size": "文档", "run.parent": "父运行", "run.forked": "分叉自", "run.children": "子运行", "run.tickets": "凭证", "run.protocol": "协议", "run.folder_changed": "运行开始后，协议文件夹已发生变化。此运行仍使用原来的版本。", "run.newest_first": "最新在前", "run.unknown": "未找到此运行", "run.unknown_why": "没有使用此标识的运行。",
  "run.events": { other: "{n} 个事件" }, "run.versions": { other: "{n} 个版本" },

  "input.nothing": "收到输入", "input.start": "由 {by} 开始", "input.forked": "{by} 从 {run} 的版本 {version} 分叉", "input.child": "由运行 {run} 启动", "input.model_replied": "{by} 已回复", "input.model_failed": "模型调用失败（{failure}）", "input.manual_patch": "{by} 提交了补丁", "input.answered": "{by} 回答了 {wait}", "input.approved": "{by} 批准了 {wait}", "input.denied": "{by} 拒绝了 {wait}", "input.ticked": "定时器已触发", "input.effect_finished": "操作已完成", "input.effect_failed": "操作失败（{failure}）", "input.tool_used": "工具调用已完成", "input.tool_failed": "工具调用失败", "input.hook": "钩子返回：{answer}", "input.child_done": "子运行已完成", "input.child_failed": "子运行失败", "input.notified": "已通知另一个运行", "input.delivery_finished": "消息已送达", "input.delivery_failed": "消息发送失败（{failure}）", "input.delivery_given_up": "已放弃发送消息（{failure}）", "input.halted": "{by} 暂停了运行", "input.resumed": "{by} 恢复了运行", "input.cancelled": "{by} 取消了运行", "input.result": "结果",
  "input.tokens": { other: "{n} 个词元" },

  "event.phase": "{phase}", "event.transition": "→ {to}：{reason}", "event.asked": "已调用模型", "event.asked_again": "正在重试（第 {n} 次尝试）", "event.accepted": "已接受", "event.accepted_on": "第 {n} 次尝试被接受", "event.tickets": "已发放凭证：{tickets}", "event.tickets_back": "已撤销凭证：{tickets}", "event.provider": "提供商出错：{message}", "event.gate": "到 {to} 的转换已关闭：{reason}", "event.retry_at": "下次检查：{at}", "event.wait": "等待：{question}", "event.wait_expired": "{wait} 已到期", "event.wait_dropped": "{wait} 不再需要", "event.effect": "操作：{what}", "event.failed": "失败：{message}", "event.tool": "工具调用：{what}", "event.hook": "已启动钩子 {hook}", "event.hook_said": "钩子返回：{answer}", "event.child": "已启动 {workflow} 的子运行：", "event.delivery": "向渠道 {channel} 发送消息：{event}", "event.granted": "已为预算 {budget} 追加 {amount}", "event.spent": "已花费预算 {budget}：{amount}",
  "event.refused": { other: "已拒绝：{n} 处违规" }, "event.mended": { other: "{n} 处修复" },

  "diff.title": "变更内容", "diff.whole": "整个文档", "diff.add": "新增", "diff.remove": "删除", "diff.replace": "更改", "diff.move": "移动", "diff.copy": "复制", "diff.test": "检验",
  "diff.changed": { other: "文档有 {n} 处变更" },
  "reply.text": "回复", "reply.beside": "回复及其问题", "reply.whole": "整个回复", "reply.told": "给模型的反馈", "reply.prompt": "原始请求与响应", "reply.request": "发送", "reply.response": "接收", "reply.packet": "提示词中的记忆包", "reply.mended": "已修复：", "reply.defaults": "默认值已填入",
  "json.items": { other: "{n} 项" }, "json.fields": { other: "{n} 个字段" }, "json.more": { other: "还有 {n} 项" },
  "document.at": "版本", "document.since": "显示", "document.whole": "整个文档", "document.changes_since": "自 v{n} 以来的变更", "document.same": "这两个版本之间没有变化。",
  "graph.enlarge": "放大图形", "graph.none": "无法显示图形：",
  "budget.of": "{spent} / {limit}", "budget.spent": "已用完", "budget.granted": "其中 {amount} 为后来追加", "budget.tokens": "词元", "budget.cost": "费用", "budget.loops": "循环", "budget.time": "时间", "budget.max_loops": "模型步数", "budget.max_questions_per_run": "提问",

  "prompt.which": "提示词", "prompt.now": "正在等待回复：{phase}", "prompt.sent_at": "{phase} · 步骤 {step} · {at}", "prompt.step_id": "步骤", "prompt.raw": "原始请求", "prompt.nothing": "当前没有待处理的模型调用", "prompt.nothing_why": "当运行调用模型时，这里会显示模型收到的提示词。", "prompt.nothing_waits": "运行正在等待人工处理。", "prompt.step": "此步骤", "prompt.agent": "智能体", "prompt.attempt": "尝试", "prompt.purpose": "用途", "prompt.contract": "合约", "prompt.tools": "工具", "prompt.memory": "记忆", "prompt.packet": "提示词中的文档部分", "prompt.system": "系统提示词", "prompt.user": "用户消息", "prompt.assistant": "模型回复", "prompt.hand_in": "代替模型回复", "prompt.hand_in_why": "您的回复会像模型的回复一样按合约检查。如果被拒绝，您会看到每一处违规。", "prompt.reply": "回复", "prompt.patch": "补丁", "prompt.send": "提交",
  "proof.title": "验证日志", "proof.why": "服务器会检查哈希链，重放每个输入，并逐字节比较结果。", "proof.prove": "立即验证", "proof.good": "验证通过", "proof.bad": "验证失败", "proof.counted": "已重放 {versions} 个输入，比较 {events} 个事件，用时 {ms} 毫秒。", "proof.hash": "最后的哈希。请另行保存，以便发现整个历史是否被替换：",

  "start.title": "新建运行", "start.lead": "选择一个协议。运行会立即开始，并向您询问所需的内容。", "start.other": "选择其他", "start.workflow": "工作流", "start.input": "输入", "start.document": "初始文档", "start.document_why": "要合并到初始文档中的对象。可以留空。", "start.more": "更多", "start.model_why": "用来代替协议所指定模型的模型。填写 `human` 时由您撰写回复。", "start.start": "开始", "start.faulty": "此协议有错误", "start.faulty_why": "请先修正错误，再启动运行。",
  "protocols.title": "协议", "protocols.lead": "可用来启动运行的协议：本文件夹中的协议和内置协议。", "protocols.empty": "没有协议", "protocols.empty_why": "请运行 `countersign init`，在此文件夹中创建一个协议。", "protocols.see": "查看错误", "protocols.about": "关于此协议", "protocols.origin": "来源", "protocols.agents": "智能体", "protocols.no_fault": "未发现错误。", "protocols.findings": "检查结果", "protocols.drawing": "工作流 {name}", "protocols.phase": "阶段", "protocols.work": "工作", "protocols.ways": "转换",
  "protocols.errors": { other: "{n} 个错误" }, "protocols.files": { other: "{n} 个文件" }, "protocols.phases": { other: "{n} 个阶段" },
  "contracts.title": "合约", "contracts.lead": "用于检查回复的合约。", "contracts.search": "搜索合约", "contracts.none": "没有符合的合约", "contracts.none_why": "换个词试试。",
  "contract.about": "关于此合约", "contract.version": "版本", "contract.intake": "接收", "contract.repairs": "修复", "contract.reask": "重试", "contract.compatibility": "兼容性", "contract.notes": "变更说明", "contract.digest": "摘要", "contract.rules": "规则", "contract.rule": "规则", "contract.says": "消息", "contract.holds": "条件", "contract.when": "当", "contract.schema": "模式", "contract.grammar": "语法", "contract.export": "导出给提供商", "contract.no_losses": "导出内容完整表达了合约。", "contract.try": "试一条回复", "contract.try_why": "输入一条模型可能给出的回复。不会保存任何内容。", "contract.admit": "按合约检查", "contract.accepted": "已接受。", "contract.refused": "已拒绝。", "contract.unchecked": "因缺少状态而未检查：{rules}。", "contract.value": "值", "contract.compare": "比较", "contract.with": "与另一个合约", "contract.or_text": "或与合约文件的文本", "contract.compare_now": "比较", "contract.backward": "另一个合约是否接受此合约所接受的一切？", "contract.forward": "此合约是否接受另一个合约所接受的一切？", "contract.yes": "是。", "contract.no": "否。", "contract.unknown": "无法判定。", "contract.witness": "反例：",
  "contract.rule_count": { other: "{n} 条规则" }, "contract.losses": { other: "导出内容无法表达的 {n} 项要求：" },
  "packet.title": "记忆包", "packet.lead": "哪些记忆进入了某个提示词、花费多少、哪些被略去及其原因。", "packet.build": "构建", "packet.placeholder": "运行和动作，例如 k7mw2p/2.1", "packet.show": "显示", "packet.none": "未选择记忆包", "packet.none_why": "运行的时间线中有指向每条回复的记忆包的链接。", "packet.left": "被略去的及其原因", "packet.explain": "完整说明", "packet.sections": "部分", "packet.chosen": "已选入", "packet.nothing_left": "没有略去任何内容。", "packet.tokenizer": "分词器", "packet.owner": "用户 {user}，智能体 {agent}",
  "system.title": "系统", "system.lead": "您的身份、服务器的状态、页面的外观。", "system.you": "您", "system.look": "外观", "system.server": "服务器", "system.workers": "工作进程", "system.user": "当前身份", "system.tenant": "租户", "system.role": "角色", "system.key": "密钥", "system.keyless": "本机无需密钥", "system.act_as": "以此身份操作", "system.act_as_why": "日志会以此名字记录您的操作。", "system.key_why": "仅保存在此标签页。", "system.theme": "主题", "system.language": "语言", "system.state": "状态", "system.one_process": "由此服务器进程自行处理运行。", "system.works": "工作中", "system.lost": "已失联：其运行将由其他工作进程接管", "system.holds": "运行", "system.seen": "最近活动", "system.locked": "需要 API 密钥", "system.locked_why": "其他人也可以访问此服务器，因此每个请求都需要密钥。请用 `countersign key create` 创建密钥。", "system.enter": "登录",
  "help.title": "键盘", "help.along": "下一项或上一项", "help.answer": "转到回答", "help.search": "搜索", "help.theme": "切换主题", "help.this": "显示此帮助", "help.leave": "离开输入框或对话框",
};
