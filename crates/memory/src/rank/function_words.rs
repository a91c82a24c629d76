//! Function words: words that occur in every text and are left out of the index and of queries.
//!
//! Question words are among them, because an answer does not contain them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use countersign_contract::text::split_words;

/// The words as they are written; for scripts without spaces, the character pairs they are split
/// into.
const WRITTEN: &str = "
    a an the this that these those it its it's of to in on at by for from with about as into and or so
    is are was were be been being am do does did have has had having will would shall should can could
    may might must there here if then than but not no nor too very just also now ever
    i me my you your we us our they them their he she him his her
    what which who whom whose when where why how
    i'm i've i'd i'll we've we're we'll you're you've you'll they're they've he'd she'd
    don't didn't doesn't isn't aren't wasn't weren't can't couldn't won't wouldn't haven't hasn't
    that's what's there's let's

    и а но или же ли бы в во на по с со к ко у о об от до из за для при над под не ни
    это эта этот эти эту этом этого этой тот та те то там тут здесь так уже еще теперь сейчас
    я мы вы ты он она они мне нам вам тебе меня нас вас тебя мой моя мое мои твой твоя твое твои наш
    ваш их его ее ей им ему себя свой
    быть есть был была было были будет будут
    что чего чему чем кто кого кому кем где когда куда откуда почему зачем как сколько
    какой какая какое какие какую каким какого каком который которая которое которые

    我们 你们 他们 她们 我的 你的 他的 她的 的是 是我 我是 是的 这个 那个 这些 那些 一个 一下 什么 么时 时候
    怎么 怎样 为什 哪里 哪儿 哪个 哪些 多少 几个 是谁 谁是 了吗 的吗 请问 可以

    저는 나는 제가 내가 우리 너는 당신 그는 그녀 무엇 무슨 언제 어디 누구 누가 어떤 어떻 떻게 얼마 왜
    습니 니다 니까 입니 합니 했습 었습 았습 나요 까요 어요 아요 해요 했어 이에 예요 에서 으로 에게 한테 하는 있는
    있어 있습
";

static STEMS: LazyLock<BTreeSet<String>> =
    LazyLock::new(|| split_words(WRITTEN).into_iter().collect());

/// Returns whether a stem is a function word.
pub(super) fn is_function_word(stem: &str) -> bool {
    STEMS.contains(stem)
}
