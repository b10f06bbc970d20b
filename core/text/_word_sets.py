"""Closed classes of English words, and the open ones that the rules for statements name."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


BE = word_set("is are was were am isn't aren't wasn't weren't")
DO = word_set("do does did don't doesn't didn't")
HAVE = word_set("has have had hasn't haven't hadn't")
MODALS = word_set("""
    can could will would shall should may might must can't cannot couldn't won't wouldn't shouldn't
    mustn't mightn't
""")
WH_WORDS = word_set("what which who whom whose where when why how")
PREPOSITIONS = word_set("""
    about above across after against along among amongst around as at before behind below beneath beside
    besides between beyond by despite during for from in inside into near of off on onto out outside over
    per since through thru throughout to toward towards under underneath until up upon via with within without
    down alongside like than concerning regarding
""")
SUBORDINATORS = word_set("when while because if although though unless whereas once whenever")
RELATIVE = word_set("who which that whom whose where when")
# verbs that take an object with a base form
CAUSING = word_set("help make let")
PRONOUNS = word_set("i you he she it we they there this these those that")
DETERMINERS = word_set("""
    a an the one any another some this that these those its his her their my your our no every each all
    both either neither
""")
NOMINAL = word_set("NN NNS NNP NNPS PRP CD FW $")
FINITE = word_set("VBD VBZ VBP MD")
TIME_PREPOSITIONS = word_set("in on at during since until from by of for")
PLACE_PREPOSITIONS = word_set("to from at in near on into")
TIME_WORDS = word_set("""
    january february march april may june july august september october november december monday tuesday
    wednesday thursday friday saturday sunday
""")
TIME_NOUNS = word_set("""
    year month week day decade century millennium hour minute second season era period age time date night
    morning evening afternoon spring summer autumn fall winter war renaissance antiquity medieval colonial
    reign dynasty birth death childhood adulthood beginning end start middle dawn dusk noon midnight today
    yesterday tomorrow christmas easter revolution reformation ago epoch pleistocene holocene ce bc bce ad
    semester term early late mid future past present never rarely often independence conflict siege battle
""")
ADVERBS = word_set(
    """
    not ever never still also always really instead today now later again originally initially currently
    recently first most often sometimes seldom usually once twice just only even already almost long well
    then ago there here nearly soon rather quite so no more less
    """
)
# prepositions that follow another one as part of it: "out of", "up to"
COMPOUND = frozenset(
    [
        ("out", "of"),
        ("up", "to"),
        ("up", "with"),
        ("away", "from"),
        ("because", "of"),
        ("due", "to"),
        ("off", "of"),
        ("out", "for"),
        ("from", "under"),
        ("down", "to"),
        ("down", "from"),
        ("in", "between"),
        ("up", "for"),
        ("such", "as"),
        ("as", "of"),
        ("back", "to"),
        ("over", "to"),
        ("up", "in"),
        ("out", "in"),
        ("on", "to"),
    ]
)
# adjectives and nouns that open a predicate right after a bare noun
NOT_BEFORE = word_set("IN CC DT TO PRP$ MD RB VBG VBN POS")
OPENERS = word_set("""
    same similar different equal equivalent identical related legal illegal considered allowed able
    available true false real alive dead still also always really actually currently only necessarily ever
    not now required supposed worth open safe good bad possible free married bigger larger smaller older
    younger better worse faster longer shorter higher lower stronger heavier called known named based
""")
IMPERATIVES = word_set("give list describe explain identify tell complete state define choose select find")
TIME_IN = word_set("year years month decade century season era period age")
TIME_ON = word_set("day date days dates weekday")
PLACES = word_set("""
    city country state town county region continent area place province location village district island
    neighborhood neighbourhood capital borough nation stadium building room museum university school venue
    part parts cities countries states places areas regions
""")
INTRANSITIVE = word_set("""
    happen occur live die originate begin start end take play compete grow work serve reside settle appear
    meet rule perform open arrive study
""")
# "which KIND is X": the noun phrase after "be" is the subject
PEOPLES = word_set("""
    region area part state
    group community people population tribe army troop immigrant settler navy force culture government region
    team soldier merchant missionary nobility family church
""")
OFFICES = word_set("mayor president governor king queen senator captain bishop pope emperor director coach")
WORKS = word_set("""
    film movie song book novel play album band show series single hit musical opera game group programme
    program poem word phrase name title motto slogan sitcom comedy drama record track tune story magazine
    newspaper painting work duo singer artist company brand ship
""")
# adjectives that a tagger takes for nouns where they stand alone
BARE_ADJECTIVES = word_set("""
    thin thick wide narrow large small big long short high low heavy light dark bright hot cold warm cool wet
    dry hard soft strong weak rich poor young old new early late deep shallow fast slow loud quiet rough
    smooth sharp flat round square open closed free public private single double upper lower inner outer
    northern southern eastern western central leeward windward
""")
# nouns that say what a name is used as: "by what NAME", "the TERM given to"
NAMING_NOUNS = word_set("name title term word nickname description phrase label moniker pseudonym alias")
GIVING = word_set("give use apply assign bestow adopt take choose")
GIVEN = word_set("given give gives gave used use applied apply assigned bestowed conferred")
KINDS = word_set("""
    color colour kind type sort size shape nationality religion gender class category year day date
    language species form material
""")
# heads whose "of" phrase stays: "what percentage of farmland" + "half" -> "half of farmland"
TAKE_PREPOSITION = word_set("""
    reminiscent full aware fond proud capable indicative typical characteristic representative afraid
    critical similar close equal opposed dependent responsible famous compliant guilty
""")
GROUPS = word_set("children's men's women's people's boys' girls' ladies' world's")
SORTS = word_set("kind kinds type types sort sorts")
SHARES = word_set("percentage percent share fraction proportion portion amount number half")
NAMING = word_set("call name consider term dub label nickname title deem")
SAYING = word_set("say think believe claim suggest argue feel assume assert hold propose conclude state")
CONTROL = word_set("""
    want ask tell allow force require encourage expect help cause persuade order like need teach advise
    urge invite enable lead permit get
""")
COPULAR = word_set("feel look seem become sound smell taste get")
MEASURES = word_set("long tall high deep wide old thick")
YES = frozenset({"yes", "true"})
NO = frozenset({"no", "false"})
NAMES_WITH_THE = frozenset(
    [
        "United States",
        "United Kingdom",
        "Netherlands",
        "Philippines",
        "Bahamas",
        "Soviet Union",
        "European Union",
        "US",
        "UK",
        "USA",
        "U.S.",
        "U.K.",
        "EU",
        "UN",
        "NFL",
        "NBA",
        "CIA",
        "FBI",
        "BBC",
        "USSR",
        "Vatican",
        "Bronx",
    ]
)
PLURALS = word_set("people men women children algae police cattle mice geese teeth feet")
POSSESSIVES = word_set("one two three four five my your his her its their our some any no each every many")
# singular count nouns: "church conference" -> "the church conference"
COUNTABLE = word_set("""
    system method process conference party movement army government church council committee company
    university school college empire king queen president minister parliament court law act treaty war
    battle attack river sea ocean city country state region team club group band organization organisation
    agency association union model machine engine device instrument technique approach strategy program
    programme project series species family tribe dynasty kingdom republic revolution rebellion
    reformation crust core mantle atmosphere moon sun earth equator sky wall bridge tower building station
    airport museum library theatre theater stadium hospital hotel market street road bank industry economy
    virus wheel pump boiler piston valve cylinder turbine constitution assembly senate roof census militia
    theorem regime outlook interpretation district relationship principle commission board department
    ministry bureau navy fleet regiment brigade legion version unit crisis event design style document
    agreement contract book novel film movie tournament championship festival ceremony structure vehicle
    car ship boat plane rocket satellite computer network alphabet antenna battery chart microscope telescope
    rifle cannon motor engine lever tube cable sword shield helmet flag logo poem song album opera symphony
    piano guitar violin drum flute saxophone trumpet leaf stem brain heart lung kidney liver stomach skull
    spine forest desert coast gulf peninsula continent
    border frontier mosque fortress tomb monument statue window floor
    hypothesis concept tumor planet galaxy comet asteroid majority minority lens mirror crown throne
    curriculum syllabus level region area branch segment sector layer surface axis horizon peak summit basin
    invasion base plateau canal tunnel highway railway railroad airline newspaper magazine journal website
""")
BEFORE_THE = frozenset(["", "in", "at", "on", "to", "because of"])
TAILS_WITH_THE = word_set("""
    Empire Kingdom Dynasty Republic Union Party Bureau Committee Commission Association Council Act Treaty
    River Sea Ocean Canal War Church Senate Army Navy Conference League Institute Foundation Agency
    Government Academy Mountains Islands Desert Peninsula Valley Plan Revolution Movement Reformation
    States Period Era Age Declaration Constitution Calendar Papers Articles Accords Wars Cup Prize Broncos
    Panthers Steelers Patriots Cowboys Bears Cardinals Seahawks Crusade Renaissance Alps Rebellion
    Orchestra Museum Games Examination Observatory Trust Fund Society Library Congress Basin Plateau Canyon
    Strait Festival Exhibition Olympics Regiment Division Brigade Corps Convention Summit Protocol Accord
    Agreement Pact Amendment Decree Theorem Principle Hypothesis Effect Crisis Depression Riots Massacre
    Uprising Trophy Championship Herald Administration Authority Ministry Department Court Parliament Cabinet
    Side Quarter District Coast Region Federation Coalition Alliance Confederation Order Mint Treasury
""")
HEADS_WITH_THE = word_set("""
    University Bank Bureau Department Ministry Treaty Battle House Church Republic Kingdom Party Institute
    School Board Court City Declaration Edict Siege Act Society College Gulf Isle Bay Duke Duchy Bishop
    League Archbishop King Queen Prince President Tower Museum Academy Council Order State
""")
FREE = word_set("in on at during between before after since until around throughout where when")
REPEATABLE = word_set("""
    in on at by for from to of with during through because as about after before until since between
    around near
""")
AUXILIARIES = BE | DO | HAVE | MODALS
NO_BOUNDARY = PREPOSITIONS | DETERMINERS | {"and", "or", "&", "to"}
ADVERBIAL_STARTS = (
    PREPOSITIONS
    | SUBORDINATORS
    | word_set("""
    here there abroad home everywhere somewhere worldwide nationwide today yesterday tomorrow tonight now
    currently annually every each last next early late recently shortly soon immediately once always never
    all this ago because to due so thanks through via upstairs downstairs outdoors indoors overseas online
    north south east west almost nearly just only right approximately about
""")
)
