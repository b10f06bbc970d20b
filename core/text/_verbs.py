"""Inflection of English verbs: past tense, past participle, third person singular.

Regular verbs follow the spelling rules; irregular ones and those whose final consonant is doubled after an
unstressed-looking syllable stand in tables.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from ._word_sets import word_set

# base: past tense, past participle
_IRREGULAR_LINES = """
abide abided abided|arise arose arisen|awake awoke awoken|bear bore borne|beat beat beaten
become became become|befall befell befallen|begin began begun|behold beheld beheld|bend bent bent
bet bet bet|bid bid bid|bind bound bound|bite bit bitten|bleed bled bled|blow blew blown
break broke broken|breed bred bred|bring brought brought|broadcast broadcast broadcast|build built built
burst burst burst|buy bought bought|cast cast cast|catch caught caught|choose chose chosen
cling clung clung|come came come|cost cost cost|creep crept crept|cut cut cut|deal dealt dealt
dig dug dug|do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed fed|feel felt felt|fight fought fought|find found found|flee fled fled
fling flung flung|fly flew flown|forbid forbade forbidden|forecast forecast forecast
foresee foresaw foreseen|forget forgot forgotten|forgive forgave forgiven|forsake forsook forsaken
freeze froze frozen|get got gotten|give gave given|go went gone|grind ground ground|grow grew grown
hang hung hung|have had had|hear heard heard|hide hid hidden|hit hit hit|hold held held|hurt hurt hurt
keep kept kept|know knew known|lay laid laid|lead led led|leave left left|lend lent lent|let let let
lie lay lain|light lit lit|lose lost lost|make made made|mean meant meant|meet met met
mistake mistook mistaken|misunderstand misunderstood misunderstood|outgrow outgrew outgrown
outdo outdid outdone|overcome overcame overcome|oversee oversaw overseen|overtake overtook overtaken
overthrow overthrew overthrown|partake partook partaken|pay paid paid|put put put|quit quit quit
read read read|rebuild rebuilt rebuilt|redo redid redone|repay repaid repaid|reset reset reset
retake retook retaken|rewrite rewrote rewritten|rid rid rid|ride rode ridden|ring rang rung
rise rose risen|run ran run|say said said|see saw seen|seek sought sought|sell sold sold|send sent sent
set set set|sew sewed sewn|shake shook shaken|shed shed shed|shine shone shone|shoot shot shot
show showed shown|shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|sit sat sat
slay slew slain|sleep slept slept|slide slid slid|sling slung slung|slit slit slit|sneak snuck snuck
sow sowed sown
speak spoke spoken|speed sped sped|spend spent spent|spin spun spun|spit spat spat|split split split
spread spread spread|spring sprang sprung|stand stood stood|steal stole stolen|stick stuck stuck
sting stung stung|stink stank stunk|strike struck struck|string strung strung|strive strove striven
swear swore sworn|sweep swept swept|swell swelled swollen|swim swam swum|swing swung swung
take took taken|teach taught taught|tear tore torn|tell told told|think thought thought
throw threw thrown|thrust thrust thrust|tread trod trodden|undergo underwent undergone
understand understood understood|undertake undertook undertaken|undo undid undone|uphold upheld upheld
upset upset upset|wake woke woken|wear wore worn|weave wove woven|weep wept wept|win won won
wind wound wound|withdraw withdrew withdrawn|withhold withheld withheld|withstand withstood withstood
wring wrung wrung|write wrote written|be was been
"""
_IRREGULAR = {
    base: (past, participle)
    for base, past, participle in (
        entry.split() for line in _IRREGULAR_LINES.strip().splitlines() for entry in line.split("|")
    )
}
# frequent regular verbs; many are nouns too, which is where a tagger needs the help
_FREQUENT = word_set("""
    abandon absorb accept access accompany accomplish account accuse achieve acquire act adapt add address
    adjust admire admit adopt advance advise affect afford age agree aid aim air allow alter amount anchor
    animate announce answer anticipate appeal appear apply appoint approach approve argue arrange arrest
    arrive ask assassinate assemble assert assign assist associate assume attach attack attempt attend
    attract award ban base battle behave believe belong benefit block board boil bomb boost border borrow
    breathe burn bury calculate call campaign capture care carry cause celebrate challenge change charge
    chase check cite claim clean clear climb close coach coin collapse collect combine command commission
    communicate compare compete compile complain complete compose comprise conceive concern conclude
    condemn conduct confirm connect conquer consider consist consume contact contain continue contract
    contrast contribute control convert convince cook cool cope copy correspond count cover crash create
    criticize cross crown cry damage dance date debut decide declare decline decrease dedicate defeat
    defend define delay deliver demand demonstrate denounce deny depart depend depict derive describe
    deserve design desire destroy detect determine develop devise die differ direct disagree disappear
    discover discuss dislike dismiss display dissolve distribute divide divorce dominate donate double
    doubt draft dress drop earn eliminate emerge emigrate employ enable encounter encourage end endorse
    enforce engage enjoy enlist ensure enter entertain equal escape establish estimate evolve examine
    exceed exchange execute exercise exist expand expect experience explain explode explore export expose
    express extend face fail fashion favor favour fear feature fill film finance finish fish fit fix float
    flow focus follow force form formulate found fuel function fund gain gather generate govern graduate
    grant greet guard guess guide halt handle happen harm hate head heat help hire host house hunt
    identify ignore illustrate imagine implement imply import impose improve include incorporate increase
    indicate influence inform inhabit inherit initiate injure inspire install intend interact interest
    interview introduce invade invent invest investigate invite involve issue join judge jump justify kick
    kill kiss label lack land last laugh launch learn lift like limit link list listen live load locate
    lock look love lower maintain manage manufacture mark market marry master match matter mate measure
    mention merge migrate mind miss move murder name need neighbor note notice number obey object oblige
    observe obtain occupy offend offer open operate oppose orbit order organize originate own paint park
    participate pass perform permit persuade pick place plan plant play please plead point portray pose
    possess pour practice pray predict present preserve press pretend prevent print proceed process
    proclaim produce profit progress prohibit promise promote prompt propose prosecute protect protest
    prove provide publish pull punish purchase pursue push qualify question race rain raise range rank
    rate reach react realize rebound receive recognize recommend record recover reduce refuse regain
    register regulate reign reject relate release rely remain remember remove rename render renew rent
    repeat replace reply report represent request require rescue research resemble reserve reside resign
    resist resolve resonate respond rest restore restrict result retain retire retreat return reveal
    revive revolve reward rival rob rock roll rule sail satisfy save scale score search secure seem select
    separate serve settle shape share shed shift ship sign skip smell smoke solve sound source sponsor
    stage star start state stay stem stop store stress struggle study succeed suffer suggest suit supply
    support suppose surface surrender surround survive suspect sustain switch symbolize tackle talk target
    taste tax tend terminate test thank threaten top total touch tour trace track trade train transform
    translate transport travel treat trick trigger trust try turn type undermine unify unite use utilize
    value vary veto view violate visit voice volunteer vote vow wait walk want warn wash waste watch weigh
    welcome wish witness wonder work worry worship monitor enhance stimulate mediate penalize encompass
    accelerate activate advocate aggravate evoke foster inhibit accumulate circulate coincide constitute
    convey correlate degrade disrupt divert erode evaporate exclude exert flourish hinder impact infect
    insert interfere interrupt isolate obstruct penetrate precede prescribe preside resume revise
    strengthen stretch subdivide supervise surpass tolerate transcend traverse vanish weaken widen
    maximize minimize maximise minimise modify specify utilise
""")
# verbs of more than one syllable that double their last consonant
_DOUBLING = word_set("""
    abet abhor abut acquit admit allot annul aver babysit befit bootleg commit compel concur confer
    control debar debug defer demur deter disbar dispel distil eavesdrop embed emit enrol enthral entrap
    equip excel expel extol format fulfil handicap hobnob impel incur infer instil inter kidnap leapfrog
    misfit occur omit outfit outwit patrol permit prefer program propel quiz rebel rebut recap recur refer
    reformat regret remit repel retrofit sidestep submit transfer transmit unplug unzip worship zigzag
""")
_KNOWN = _FREQUENT | _DOUBLING | _IRREGULAR.keys()
_PREFIXES = ("over", "under", "out", "mis", "fore", "inter", "cross", "proof", "pre", "re", "un", "in", "co-")
_NO_PREFIX = frozenset({"relay", "relet", "under", "inset", "intercut", "prelet", "cost", "inlay"})
_ONSET = (
    r"(?:[bcdfghjklmnprstvwyz]|[bcfgps]l|[bcdfgpt]r|s[ckmnptw]|[cstw]h|kn|wr|gn|tw|s?qu|s[ckpt]r|spl|[st]hr)"
)
_ONE_SYLLABLE = re.compile(_ONSET + r"[aeiou][bdgklmnprtvz]")
# not "speed", "seed", "hundred", "sacred"
_REGULAR_PAST = re.compile(
    r"(?:(?:agr|fr|decr|guarant|refer)e|(?!hundr|sacr|kindr|\bsh|\bsl|\bbr)\w*[^\We])ed$"
)
_SIBILANT = re.compile(r"(?:s|x|z|(?<!stoma)ch|sh)$")
_O_ES = re.compile(r"(?:do|go|echo|veto|torpedo)$")
_PARTICIPLES = frozenset(participle for _, participle in _IRREGULAR.values()) | {"born", "got"}
_PASTS = frozenset(past for past, _ in _IRREGULAR.values())


@cache
def past_tense(verb: str) -> str:
    """The past tense of a base form: invent -> invented. The case of the base form is kept."""
    return _keep_case(verb, _past(verb.lower()))


@cache
def base_form(word: str) -> str | None:
    """The base form of a third person singular (carries -> carry), None for a word that is none."""
    low = word.lower()
    if low in ("is", "has", "does"):
        return {"is": "are", "has": "have", "does": "do"}[low]
    if not low.endswith("s"):
        return None
    bases = [base for base in (low[:-1], low[:-2], low[:-3] + "y") if len(base) > 1 and _third(base) == low]
    return next((base for base in bases if is_known_verb(base)), bases[0] if bases else None)


@cache
def third_person(verb: str) -> str:
    """The third person singular of a base form: carry -> carries, go -> goes."""
    return _keep_case(verb, _third(verb.lower()))


def is_known_verb(word: str) -> bool:
    """Whether a word is the base form of an irregular or of a frequent regular verb."""
    return word in _KNOWN


@lru_cache(65_536)
def is_past_participle(word: str) -> bool:
    """Whether a word has the form of a past participle."""
    word = word.lower()
    return word in _PARTICIPLES or _REGULAR_PAST.search(word) is not None


@lru_cache(65_536)
def is_past_tense(word: str) -> bool:
    """Whether a word has the form of a past tense."""
    word = word.lower()
    return word in _PASTS or _REGULAR_PAST.search(word) is not None


def _keep_case(given: str, inflected: str) -> str:
    if given.isupper() and len(given) > 1:
        return inflected.upper()
    return inflected[:1].upper() + inflected[1:] if given[:1].isupper() else inflected


def _past(verb: str) -> str:
    stem, prefix = _known_stem(verb)
    if stem is not None:
        return prefix + _IRREGULAR[stem][0]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ied"
    if verb.endswith("c") and verb[-2:-1] in "aeiou":
        return verb + "ked"
    if _doubles(verb):
        return verb + verb[-1] + "ed"
    return verb + "ed"


def _doubles(verb: str) -> bool:
    bare = next((verb.removeprefix(p) for p in _PREFIXES if verb.startswith(p)), verb).lstrip("-")
    return verb != "interpret" and any(v in _DOUBLING or _ONE_SYLLABLE.fullmatch(v) for v in (verb, bare))


def _third(verb: str) -> str:
    if verb in ("be", "have"):
        return {"be": "is", "have": "has"}[verb]
    if verb.endswith("quiz"):
        return verb + "zes"
    if _SIBILANT.search(verb) or _O_ES.search(verb):
        return verb + "es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _known_stem(verb: str) -> tuple[str | None, str]:
    """An irregular verb and what stands before it, as in re-sell, overhear and co-write."""
    if verb in _IRREGULAR or verb in _NO_PREFIX:
        return (verb if verb in _IRREGULAR else None), ""
    for prefix in _PREFIXES:
        bare = verb.removeprefix(prefix)
        if bare != verb and bare.removeprefix("-") in _IRREGULAR:
            stem = bare.removeprefix("-")
            return stem, verb[: len(verb) - len(stem)]
    return None, ""
